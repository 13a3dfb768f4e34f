import {isJson, type Json} from '../../api/json.ts';
import {jsonObject} from '../json-object.ts';
import {cutBytes} from '../status-size.ts';
import {shown, shownName} from './shown.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'array'] as const;

/** One field of a form, as far as it is judged. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly type: (typeof TYPES)[number] | undefined;
  /** The only values there are; of an array, the only items. */
  readonly choices: ReadonlySet<unknown> | undefined;
  /** Bounds of the number, of the count of characters, or of the count of items. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** A form of an agent. */
export interface Form {
  readonly fields: readonly Field[];
  /** No other field is allowed. */
  readonly closed: boolean;
}

/** As long as the field that holds a form. */
const MAX_SCHEMA = 16_384;

/** What a form without fields may hold. */
const FORM_ONLY = ['type', 'title', 'description', '$schema', 'additionalProperties', 'required'];

/** Bytes of choices that are named. */
const MAX_CHOICES_SHOWN = 80;

/**
 * The form of `spec.schema`; undefined where there is none that can be read. An agent wrote it: of JSON Schema, only what
 * forms of MCP and ACP are made of is looked at, two levels deep. What else it says is not judged, and a pattern is never
 * run: it could take for ever.
 */
export function readForm(schema: string | undefined): Form | undefined {
  if (schema === undefined || schema.length > MAX_SCHEMA) return undefined;
  const json = jsonObject(schema);
  if (json === undefined || (json['type'] ?? 'object') !== 'object') return undefined;
  // Fields that stand elsewhere (`$ref`, `allOf`) are not found here.
  if (!('properties' in json) && Object.keys(json).some((key) => !FORM_ONLY.includes(key))) return undefined;
  const properties = new Map(isJson(json['properties']) ? Object.entries(json['properties']) : []);
  const required = new Set(textsOf(json['required']));
  const named = new Set([...required, ...properties.keys()]);
  const fields = [...named].map((name) => fieldOf(name, properties.get(name), required.has(name)));
  return {fields, closed: json['additionalProperties'] === false};
}

/** What a field takes, in words. */
export function allowed({type, choices, min, max}: Field): string {
  if (choices !== undefined) {
    const named = cutBytes(
      [...choices].map((one) => (typeof one === 'string' ? shownName(one) : shown(one))).join(', '),
      MAX_CHOICES_SHOWN,
    );
    return type === 'array' ? `any of: ${named}${bounds('items', min, max)}` : `one of: ${named}`;
  }
  if (type === 'boolean') return 'true or false';
  if (type === 'string') return `text${bounds('characters', min, max)}`;
  if (type === 'array') return `list${bounds('items', min, max)}`;
  if (type === undefined) return 'any value';
  return `${type === 'integer' ? 'whole number' : 'number'}${bounds('', min, max)}`;
}

/** What stands for the value of a field in a command that is to be filled in. */
export function placeholder(field: Field): string {
  return `<${allowed(field)}${field.required ? '' : ', optional'}>`;
}

function bounds(unit: string, min: number | undefined, max: number | undefined): string {
  const of = unit === '' ? '' : ` ${unit}`;
  if (min !== undefined && max !== undefined) return `, ${min} to ${max}${of}`;
  if (min !== undefined) return `, at least ${min}${of}`;
  return max === undefined ? '' : `, at most ${max}${of}`;
}

function fieldOf(name: string, property: unknown, required: boolean): Field {
  const json = isJson(property) ? property : {};
  const type = TYPES.find((one) => one === json['type']);
  const [min, max] = boundsOf(type, json);
  const choices = choicesOf(type === 'array' ? json['items'] : json);
  return {name, required, type, choices, min, max};
}

function boundsOf(type: Field['type'], json: Json): [number | undefined, number | undefined] {
  if (type === 'string') return [numberOf(json['minLength']), numberOf(json['maxLength'])];
  if (type === 'array') return [numberOf(json['minItems']), numberOf(json['maxItems'])];
  if (type === 'number' || type === 'integer') return [numberOf(json['minimum']), numberOf(json['maximum'])];
  return [undefined, undefined];
}

/** The choices, if all of them can be compared. */
function choicesOf(json: unknown): ReadonlySet<unknown> | undefined {
  if (!isJson(json)) return undefined;
  const titled = json['oneOf'] ?? json['anyOf'];
  const choices = Array.isArray(json['enum'])
    ? json['enum']
    : Array.isArray(titled)
      ? titled.map((one: unknown) => (isJson(one) && Object.hasOwn(one, 'const') ? one['const'] : {}))
      : [];
  const plainOnes = choices.every((one) => typeof one !== 'object' || one === null);
  return choices.length > 0 && plainOnes ? new Set(choices) : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
