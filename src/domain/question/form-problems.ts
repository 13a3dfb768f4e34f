import type {QuestionObject} from '../../api/v1alpha1/index.ts';
import {jsonObject} from '../json-object.ts';
import {allowed, type Field, type Form, placeholder, readForm} from './form.ts';
import {shown, shownName} from './shown.ts';

/** Problems that are named; more would hide the first ones. */
const MAX_NAMED = 5;

/** Why the answer of a form does not fit it, in words; empty while there is no answer, for one that fits, and for other kinds. */
export function answerProblems({spec: {kind, schema, answer}}: Pick<QuestionObject, 'spec'>): string[] {
  return kind === 'Elicitation' && answer !== undefined ? formProblems(schema, answer.content) : [];
}

/** What is wrong with content that was given for the form of an agent: which field, what was given, what is allowed. */
export function formProblems(schema: string | undefined, content: string | undefined): string[] {
  const json = jsonObject(content);
  if (json === undefined) {
    const next = 'put a value in the place of each <...>, and text in double quotes';
    return [`content: given ${shown(content)}; allowed is a JSON object: ${next}`];
  }
  const form = readForm(schema);
  if (form === undefined) return [];
  const given = new Map(Object.entries(json));
  const problems = form.fields.flatMap((field) => problemOf(field, given) ?? []);
  const missing = form.fields.some(({name, required}) => required && !given.has(name));
  // A name that the form does not have is most likely the one that is missing, misspelt.
  if (form.closed || missing) problems.push(...strangers(form, given));
  const more = problems.length - MAX_NAMED;
  return more > 0 ? [...problems.slice(0, MAX_NAMED), `and ${more} more`] : problems;
}

function problemOf(field: Field, given: ReadonlyMap<string, unknown>): string | undefined {
  const name = shownName(field.name);
  if (!given.has(field.name)) return field.required ? `${name}: missing; needed is ${allowed(field)}` : undefined;
  const value = given.get(field.name);
  if (fits(field, value)) return undefined;
  const quoted = typeof value === 'string' && ['number', 'integer', 'boolean'].some((type) => type === field.type);
  return `${name}: given ${shown(value)}; allowed is ${allowed(field)}${quoted ? ', without quotes' : ''}`;
}

function strangers(form: Form, given: ReadonlyMap<string, unknown>): string[] {
  const known = new Set(form.fields.map(({name}) => name));
  return [...given.keys()].filter((name) => !known.has(name)).map((name) => `${shownName(name)}: no field of the form`);
}

function fits(field: Field, value: unknown): boolean {
  const {type, choices, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY} = field;
  const within = (size: number): boolean => size >= min && size <= max;
  // Also where the agent made it a choice: nobody chose it.
  const open = placeholder(field);
  const isChoice = (one: unknown): boolean => one !== open && choices?.has(one) !== false;
  if (type === 'array') return Array.isArray(value) && within(value.length) && value.every(isChoice);
  if (!isChoice(value)) return false;
  if (choices !== undefined) return true;
  if (type === 'string') return typeof value === 'string' && within([...value].length);
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === undefined) return true;
  // A number beyond all numbers has no form in JSON: the agent would be told null.
  return (
    (type === 'integer' ? Number.isInteger(value) : Number.isFinite(value)) &&
    typeof value === 'number' &&
    within(value)
  );
}
