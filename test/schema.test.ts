import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {generatedFiles} from '../hack/generate/files.ts';
import {type AnyResource, toCrd} from '../src/api/crd.ts';
import {isJson, type Json} from '../src/api/json.ts';
import {addressRange, imageByDigest} from '../src/api/schema.ts';
import {toStructural} from '../src/api/structural.ts';
import {KINDS, STOPPED_REASONS} from '../src/api/v1alpha1/index.ts';
import {items, member, text} from '../src/kube/typed.ts';
import {sourcesBelow} from './architecture/sources.ts';

const kinds: readonly AnyResource[] = KINDS;

interface Node {
  readonly path: string;
  readonly schema: Json;
}

/** Every node below a schema, the schema included. */
function nodes(schema: Json, path: string): Node[] {
  const below = Object.entries(member(schema, 'properties')).flatMap(([name, value]) =>
    isJson(value) ? nodes(value, `${path}.${name}`) : [],
  );
  const inner = isJson(schema['items']) ? nodes(schema['items'], `${path}[]`) : [];
  const values = isJson(schema['additionalProperties']) ? nodes(schema['additionalProperties'], `${path}{}`) : [];
  return [{path, schema}, ...below, ...inner, ...values];
}

const allNodes = (kind: AnyResource): Node[] => [
  ...nodes(toStructural(kind.spec), `${kind.kind}.spec`),
  ...nodes(toStructural(kind.status), `${kind.kind}.status`),
];

/** Words that the product says outside the declarations of its kinds: texts, and keys of tables. */
const words = new Set(
  sourcesBelow('src')
    .filter(({path}) => !path.startsWith('src/api/v1alpha1/') && !path.endsWith('.test.ts'))
    .flatMap(({text: source}) => [...source.matchAll(/'([A-Z][A-Za-z]+)'|\b([A-Z][A-Za-z]+):/g)])
    .flatMap(([, quoted, key]) => quoted ?? key ?? []),
);

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('schema of %s', (_, kind) => {
  it('describes every field', () => {
    const silent = allNodes(kind).filter(
      ({path, schema}) => !/(\[\]|\.spec|\.status)$/.test(path) && text(schema, 'description') === '',
    );
    expect(silent.map(({path}) => path)).toEqual([]);
  });

  it('bounds every text, list and map, so that rules stay affordable', () => {
    const unbounded = allNodes(kind).filter(({schema}) => {
      switch (text(schema, 'type')) {
        case 'string':
          return !('maxLength' in schema || 'enum' in schema);
        case 'array':
          return !('maxItems' in schema);
        case 'integer':
          return !('minimum' in schema);
        case 'object':
          return !('properties' in schema || 'maxProperties' in schema);
        default:
          return false;
      }
    });
    expect(unbounded.map(({path}) => path)).toEqual([]);
  });

  it('has no list without its merge type', () => {
    const wrong = allNodes(kind).filter(
      ({schema}) => text(schema, 'type') === 'array' && !('x-kubernetes-list-type' in schema),
    );
    expect(wrong.map(({path}) => path)).toEqual([]);
  });

  it('has only transition rules at its root, because those never ratchet', () => {
    expect(kind.rootRules.filter((rule) => !rule.rule.includes('oldSelf')).map((rule) => rule.message)).toEqual([]);
  });

  it('shows and selects only fields that exist', () => {
    const known = new Set(allNodes(kind).map(({path}) => path.replace(kind.kind, '').replaceAll('[]', '')));
    const columns = kind.columns.map((column) => column.jsonPath).filter((path) => !path.startsWith('.metadata.'));
    const named = [...columns, ...kind.selectableFields].map((path) => path.replace(/\[\?\(.*?\)\]/g, ''));
    expect(named.filter((path) => !known.has(path))).toEqual([]);
    expect(kind.selectableFields.length).toBeLessThanOrEqual(8);
  });

  it('has texts without bound in the last column only, where they move no other', () => {
    const texts = kind.columns.filter(({jsonPath}) => /\.(message|text)$/.test(jsonPath));
    expect(texts).toEqual(kind.columns.slice(kind.columns.length - texts.length));
    expect(texts.length).toBeLessThanOrEqual(1);
  });

  it('has date columns for ages only: a time to come would be printed as <invalid>', () => {
    const dates = kind.columns.filter((column) => column.type === 'date').map((column) => column.jsonPath);
    expect(dates).toEqual(['.metadata.creationTimestamp']);
  });

  it('has the common conditions, and reasons that are one word', () => {
    expect(Object.keys(kind.conditions.types)).toEqual(expect.arrayContaining(['Ready', 'Reconciling']));
    expect(Object.keys(kind.conditions.reasons).filter((reason) => !/^[A-Z][A-Za-z]{1,62}$/.test(reason))).toEqual([]);
    expect(Object.keys(kind.conditions.types).length).toBeLessThanOrEqual(20);
  });

  it('documents no reason that nothing says', () => {
    const silent = Object.keys(kind.conditions.reasons).filter((reason) => !words.has(reason));
    expect(silent).toEqual([]);
  });

  it('limits names by the schema', () => {
    expect(JSON.stringify(toCrd(kind))).toContain(`"name":{"type":"string","maxLength":${kind.maxName},`);
  });
});

it('names no stoppedReason that nothing sets', () => {
  expect(STOPPED_REASONS.filter((reason) => !words.has(reason))).toEqual([]);
});

describe('an image by digest', () => {
  const image = imageByDigest('An image.');
  it('is asked for by a rule that says how to get one, and by no pattern that hides it', () => {
    const said = JSON.stringify(toStructural(z.object({image})));
    expect(said).toContain(String.raw`self.matches('^[^@\\\\s]+@sha256:[a-f0-9]{64}$')`);
    expect(said).toMatch(/must be pinned by digest: name@sha256:.*crane digest.*kubectl get pod/);
    expect(said).not.toContain('"pattern"');
  });

  it.each([
    ['registry.example/agent:1', false],
    ['nginx', false],
    [`a b@sha256:${'a'.repeat(64)}`, false],
    [`registry.example/agent@sha256:${'a'.repeat(63)}`, false],
    [`registry.example:5000/agent:1@sha256:${'a'.repeat(64)}`, true],
  ])('%s: %s', (name, valid) => {
    expect(image.safeParse(name).success).toBe(valid);
  });
});

describe('an address range', () => {
  it('is asked for by a rule that a range with bits beyond its prefix does not pass, and by no pattern', () => {
    const said = JSON.stringify(toStructural(z.object({range: addressRange('Why.')})));
    expect(said).toContain('"rule":"isCIDR(self) && cidr(self) == cidr(self).masked()"');
    expect(said).toMatch(/must be an address range: .*10\.2\.0\.0\/16.*For one address write \/32/);
    expect(said).not.toContain('"pattern"');
  });
});

describe('zod to structural schema', () => {
  it.each([
    ['a union', z.object({a: z.union([z.string(), z.number()])}), '$.a: anyOf is not structural'],
    ['a nullable field', z.object({a: z.string().nullable()}), '$.a: nullable is not structural'],
  ])('refuses %s and names the field', (_, schema, message) => {
    expect(() => toStructural(schema)).toThrow(message);
  });

  it('keeps defaults and bounds, and drops what Kubernetes does not know', () => {
    const schema = z.object({
      at: z.iso.datetime().max(40),
      n: z.int(),
      map: z.record(z.string(), z.string().max(5)),
      s: z.enum(['A']).default('A'),
    });
    expect(toStructural(schema)).toEqual({
      type: 'object',
      required: ['at', 'n', 'map'],
      properties: {
        at: {type: 'string', format: 'date-time', maxLength: 40},
        n: {type: 'integer'},
        map: {type: 'object', additionalProperties: {type: 'string', maxLength: 5}},
        s: {type: 'string', enum: ['A'], default: 'A'},
      },
    });
  });
});

describe('generated files', () => {
  it('the chart carries every CRD of crds/', () => {
    const names = [...generatedFiles().keys()]
      .filter((path) => path.startsWith('crds/'))
      .map((path) => path.slice('crds/'.length));
    expect(names.filter((name) => !generatedFiles().has(`charts/carrel/templates/crds/${name}`))).toEqual([]);
    expect(items({names}, 'names').length).toBe(kinds.length);
  });
});
