import type {AnyResource} from '../../src/api/crd.ts';
import {isJson, type Json} from '../../src/api/json.ts';
import {toStructural} from '../../src/api/structural.ts';
import {items, member, text} from '../../src/kube/typed.ts';

/** The reference page of a kind: everything that the API server knows of it, in the words of the schema. */
export function referencePage(kind: AnyResource): string {
  return [
    `# ${kind.kind}`,
    kind.description,
    facts(kind),
    '## Spec',
    fieldTable(toStructural(kind.spec), 'spec'),
    '## Rules',
    ruleList(kind),
    '## Status',
    'Written by the platform only.',
    fieldTable(toStructural(kind.status), 'status'),
    '## Conditions',
    conditionTable(kind),
    '## Reasons',
    reasonTable(kind),
    '## Columns of `kubectl get`',
    columnTable(kind),
  ]
    .join('\n\n')
    .concat('\n');
}

/** The list of all kinds. */
export function referenceIndex(kinds: readonly AnyResource[]): string {
  const rows = kinds.map((kind) => [
    `[${kind.kind}](${kind.singular}.md)`,
    kind.shortNames.map(code).join(', '),
    kind.description,
  ]);
  return `# Reference\n\n${table(['Kind', 'Short name', 'What it is'], rows)}\n`;
}

function facts(kind: AnyResource): string {
  const selectors = kind.selectableFields.map((path) => code(path.slice(1))).join(', ');
  return [
    `- API: \`${kind.group}/${kind.version}\`, resource \`${kind.plural}.${kind.group}\`, short name ${kind.shortNames.map(code).join(', ')}`,
    `- Name: a DNS label of at most ${kind.maxName} characters`,
    `- Field selectors: ${selectors === '' ? 'none' : selectors}`,
  ].join('\n');
}

function fieldTable(schema: Json, path: string): string {
  return table(['Field', 'Type', 'What it means'], fieldRows(schema, path));
}

function fieldRows(schema: Json, path: string): string[][] {
  const required = new Set(items(schema, 'required'));
  return Object.entries(member(schema, 'properties')).flatMap(([name, value]) => {
    if (!isJson(value)) return [];
    const field = `${path}.${name}`;
    const inner = text(value, 'type') === 'array' ? member(value, 'items') : value;
    const below = fieldRows(inner, text(value, 'type') === 'array' ? `${field}[]` : field);
    return [[code(field), typeText(value, required.has(name)), meaning(value)], ...below];
  });
}

function typeText(schema: Json, required: boolean): string {
  const limits = [
    ...(required ? ['required'] : []),
    ...limit(schema, 'minLength', 'at least', 'characters'),
    ...limit(schema, 'maxLength', 'at most', 'characters'),
    ...limit(schema, 'minItems', 'at least', 'items'),
    ...limit(schema, 'maxItems', 'at most', 'items'),
    ...limit(schema, 'minimum', 'from', ''),
    ...limit(schema, 'maximum', 'to', ''),
  ];
  const type = text(schema, 'format') === 'date-time' ? 'time' : typeName(schema);
  return [type, ...limits].join(', ');
}

function typeName(schema: Json): string {
  const type = text(schema, 'type');
  return type === 'array' ? `list of ${text(member(schema, 'items'), 'type')}` : type;
}

function limit(schema: Json, name: string, before: string, after: string): string[] {
  const value = schema[name];
  return typeof value === 'number' ? [`${before} ${value} ${after}`.trim()] : [];
}

function meaning(schema: Json): string {
  const choices = items(schema, 'enum');
  return [
    text(schema, 'description'),
    ...(choices.length > 0 ? [`One of ${choices.map((choice) => code(String(choice))).join(', ')}.`] : []),
    ...('default' in schema ? [`Default ${code(JSON.stringify(schema['default']))}.`] : []),
  ].join(' ');
}

function ruleList(kind: AnyResource): string {
  const below = Map.groupBy(rulesBelow(toStructural(kind.spec), 'spec'), (rule) => rule.message);
  const rules = [
    ...kind.rootRules.map((rule) => rule.message),
    ...[...below].map(([message, places]) => `${places.map((place) => code(place.path)).join(', ')}: ${message}`),
  ];
  return rules.length === 0 ? 'None beside the schema.' : rules.map((rule) => `- ${rule}`).join('\n');
}

function rulesBelow(schema: Json, path: string): {path: string; message: string}[] {
  const own = items(schema, 'x-kubernetes-validations').map((rule) => ({path, message: text(rule, 'message')}));
  const below = Object.entries(member(schema, 'properties')).flatMap(([name, value]) =>
    isJson(value) ? rulesBelow(value, `${path}.${name}`) : [],
  );
  const inItems = isJson(schema['items']) ? rulesBelow(schema['items'], `${path}[]`) : [];
  return [...own, ...below, ...inItems];
}

function conditionTable(kind: AnyResource): string {
  const rows = Object.entries(kind.conditions.types).map(([type, entry]) => [
    code(type),
    entry.polarity === 'normal' ? 'always present; True is good' : 'present only while True',
    entry.means,
  ]);
  return table(['Condition', 'When', 'True means'], rows);
}

function reasonTable(kind: AnyResource): string {
  const rows = Object.entries(kind.conditions.reasons).map(([reason, entry]) => [
    code(reason),
    entry.event === 'none' ? '' : entry.event,
    entry.means,
  ]);
  return table(['Reason', 'Event', 'What happened, and what to do'], rows);
}

function columnTable(kind: AnyResource): string {
  const rows = kind.columns.map((column) => [
    `${column.name}${column.priority === 1 ? ' (`-o wide`)' : ''}`,
    code(column.jsonPath),
    column.description,
  ]);
  return table(['Column', 'From', 'What it shows'], rows);
}

function code(value: string): string {
  return `\`${value}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
