import {z} from 'zod';

/** A node of a Kubernetes structural schema, as plain JSON. */
export type StructuralSchema = Record<string, unknown>;

const Node = z.record(z.string(), z.unknown());

/** Keywords that no structural schema may hold below its root; a kind that needs one is written another way. */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'nullable'] as const;

/** Regular expressions that zod adds for a date-time: the API server checks `format` itself. */
const FORMATS_WITHOUT_PATTERN = new Set(['date-time']);

/** Turns a zod object into the structural schema that a CRD carries; throws on what Kubernetes cannot express. */
export function toStructural(schema: z.ZodType): StructuralSchema {
  return node(z.toJSONSchema(schema, {target: 'openapi-3.0', io: 'input'}), '$');
}

function node(value: unknown, path: string): StructuralSchema {
  const source = Node.parse(value);
  for (const keyword of REFUSED) {
    if (keyword in source)
      throw new Error(`${path}: ${keyword} is not structural; use an enum, optional members and one rule`);
  }
  const {type, description, properties, items, additionalProperties, pattern, minimum, maximum, ...rest} = source;
  delete rest['$schema'];
  return {
    ...defined({type, description}),
    ...rest,
    ...(FORMATS_WITHOUT_PATTERN.has(String(rest['format'])) ? {} : defined({pattern})),
    ...bounds(minimum, maximum),
    ...(items === undefined ? {} : {items: node(items, `${path}[]`)}),
    ...(properties === undefined ? mapValues(additionalProperties, path) : {properties: members(properties, path)}),
  };
}

function members(properties: unknown, path: string): StructuralSchema {
  return Object.fromEntries(
    Object.entries(Node.parse(properties)).map(([name, member]) => [name, node(member, `${path}.${name}`)]),
  );
}

/** `additionalProperties` stands only where no properties are named: the two exclude each other. */
function mapValues(additionalProperties: unknown, path: string): StructuralSchema {
  if (additionalProperties === undefined || typeof additionalProperties === 'boolean') return {};
  return {additionalProperties: node(additionalProperties, `${path}{}`)};
}

/** Without the safe-integer limits of zod: they say nothing that a reader of the schema wants to know. */
function bounds(minimum: unknown, maximum: unknown): StructuralSchema {
  return {
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : {minimum}),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : {maximum}),
  };
}

function defined(entries: Record<string, unknown>): StructuralSchema {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}
