import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'yaml';
import {type AnyResource, toCrd} from '../../src/api/crd.ts';
import {GROUP_NAMES} from '../../src/api/groups.ts';
import {isJson, type Json} from '../../src/api/json.ts';
import {KINDS} from '../../src/api/v1alpha1/index.ts';
import {BASE_GROUPS, COMPOSITE_GROUPS} from '../../src/domain/access/groups.ts';
import {REFUSALS} from '../../src/domain/refusal.ts';
import {TOOLS} from '../../src/gateway/tools/index.ts';
import {member} from '../../src/kube/typed.ts';
import {createMetrics} from '../../src/telemetry/metrics.ts';
import {sourcesBelow} from '../architecture/sources.ts';

const ROOT = join(import.meta.dirname, '../..');
const kinds: readonly AnyResource[] = KINDS;

/** A metric of ours, as its page has to tell it. */
export interface MetricWords {
  readonly name: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Every metric of ours. */
export function metricWords(): MetricWords[] {
  return createMetrics()
    .registry.getMetricsAsArray()
    .filter(({name}) => name.startsWith('carrel_'))
    .map((metric) => ({
      name: metric.name,
      labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [],
      help: metric.help,
    }));
}

const product = sourcesBelow('src').filter(({path}) => !path.endsWith('.test.ts'));
const sources = [...product, ...sourcesBelow('hack')].map(({text}) => text).join('\n');

/** Words with underscores that a page may use: tools and their arguments, groups, codes, metrics. */
function snakeWords(): Set<string> {
  const tools = TOOLS.flatMap((tool) => [tool.name, ...tool.untaken, ...wordsIn(tool.describe('whole').inputSchema)]);
  const groups = [...GROUP_NAMES, ...COMPOSITE_GROUPS, ...BASE_GROUPS.flatMap((g) => [g, `${g}_readonly`])];
  const codes = [...sources.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map((match) => match[1] ?? '');
  return new Set([
    ...tools,
    ...groups,
    ...Object.keys(REFUSALS),
    ...codes,
    ...ACP,
    ...metricWords().map((m) => m.name),
  ]);
}

/** Every string in a JSON Schema, keys included: names of arguments and their choices. */
function wordsIn(schema: unknown): string[] {
  if (typeof schema === 'string') return [schema];
  if (Array.isArray(schema)) return schema.flatMap(wordsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [key, ...wordsIn(value)]);
}

/** Paths of every field of every kind, `spec.model.key.secret`; items of lists count as members. */
function fieldPaths(): Set<string> {
  const walk = (schema: Json, path: string): string[] => {
    const inner = isJson(schema['items']) ? schema['items'] : schema;
    return Object.entries(member(inner, 'properties')).flatMap(([name, value]) =>
      isJson(value) ? [`${path}${name}`, ...walk(value, `${path}${name}.`)] : [],
    );
  };
  const paths = kinds.flatMap((kind) => {
    const text: unknown = JSON.parse(JSON.stringify(toCrd(kind)));
    const versions = isJson(text) ? member(text, 'spec')['versions'] : undefined;
    const version: unknown = Array.isArray(versions) ? versions[0] : undefined;
    return isJson(version) ? walk(member(member(version, 'schema'), 'openAPIV3Schema'), '') : [];
  });
  return new Set(paths);
}

/** Paths of every value of the chart. */
function chartValues(): Set<string> {
  const walk = (value: unknown, path: string): string[] =>
    isJson(value) ? Object.entries(value).flatMap(([k, v]) => [`${path}${k}`, ...walk(v, `${path}${k}.`)]) : [];
  return new Set(walk(parse(readFileSync(join(ROOT, 'charts/carrel/values.yaml'), 'utf8')), ''));
}

/** Words in capitals inside that a page may use: kinds, phases, choices, conditions, reasons, and Kubernetes' own. */
function capitalWords(): Set<string> {
  const ours = [...sources.matchAll(/\b([A-Z][a-z]+(?:[A-Z][a-z]*)+)\b/g)].map((match) => match[1] ?? '');
  return new Set([...ours, ...KUBERNETES]);
}

/** Methods of the Agent Client Protocol, without their prefix. */
const ACP = ['set_mode'];

const KUBERNETES = [
  'MutatingAdmissionPolicy',
  'ValidatingAdmissionPolicy',
  'ReadWriteOncePod',
  'ContainerCreating',
  'RoleBinding',
  'StatefulSet',
  'StorageClass',
];

const scripts: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const npmScripts = isJson(scripts) ? Object.keys(member(scripts, 'scripts')) : [];

interface Vocabulary {
  readonly what: string;
  /** The words of a code span that are judged. */
  find(span: string): readonly string[];
  known(word: string): boolean;
}

/** What a code span may name, and how it is known to exist. */
export function vocabularies(): Vocabulary[] {
  const [snake, fields, values, capitals] = [snakeWords(), fieldPaths(), chartValues(), capitalWords()];
  const sections = [...values].filter((v) => !v.includes('.')).join('|');
  const whole = (pattern: RegExp) => (span: string) => pattern.exec(span)?.slice(1, 2) ?? [];
  return [
    {
      what: 'tool, argument, group, code or metric',
      find: whole(/^([a-z]+(?:_[a-z0-9]+)+)$/),
      known: (w) => snake.has(w),
    },
    {
      what: 'field of a kind',
      find: whole(/^((?:spec|status)(?:\.[A-Za-z]+(?:\[\])?)+)(?:: .*)?$/),
      known: (w) => fields.has(w.replaceAll('[]', '')),
    },
    {
      what: 'value of the chart',
      find: (span) =>
        span.includes('carrel.dev') ? [] : whole(new RegExp(`^((?:${sections})\\.[A-Za-z.]+)(?:: .*)?$`))(span),
      // `workspace.image` and the like are fields of an Agent that happen to begin like a section of the chart.
      known: (w) => values.has(w) || fields.has(`spec.${w}`),
    },
    {what: 'word of the API', find: whole(/^([A-Z][a-z]+(?:[A-Z][a-z]+)+)$/), known: (w) => capitals.has(w)},
    {
      what: 'setting',
      find: (span) => [...span.matchAll(/\bCARREL_[A-Z_]*[A-Z]\b/g)].map((m) => m[0]),
      known: (w) => sources.includes(w),
    },
    {
      what: 'npm script',
      find: (span) => [...span.matchAll(/\bnpm run (?:--silent )?([a-z:-]+)/g)].map((m) => m[1] ?? ''),
      known: (w) => npmScripts.includes(w),
    },
    {
      what: 'path of this repository',
      find: whole(/^((?:src|test|hack|docs|charts|crds|examples)\/[^\s<>*{}]*)$/),
      known: (w) => existsSync(join(ROOT, w)),
    },
  ];
}
