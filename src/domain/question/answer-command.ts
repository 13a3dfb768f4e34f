import {ANSWER_PLACEHOLDER, type QuestionObject} from '../../api/v1alpha1/index.ts';
import {jsonBytes} from '../status-size.ts';
import {type Field, placeholder, readForm} from './form.ts';
import {visible} from './shown.ts';

/** Bytes of the options, or of the fields of a form, that are named: the whole must fit a condition, with what is wrong before it. */
const MAX_OPTIONS_SHOWN = 384;
const MAX_FIELDS_SHOWN = 320;

/**
 * How a Question is answered: what a person types, with the choice left open. A command that chose would be an approval that
 * nobody thought about. Pasted as it stands it is refused, or it is no answer that fits.
 */
export function answerHint({metadata: {name, namespace}, spec}: QuestionObject): string {
  const {answer, left} = answerOf(spec);
  // Names and ids are an agent's: a quote in one must not end the argument in the shell of whoever copies this.
  const patch = inSingleQuotes(JSON.stringify({spec: {answer}}));
  const more = left === 0 ? '' : ` (${left} more fields are in spec.schema)`;
  return `with${more}: kubectl patch questions.carrel.dev ${name} -n ${namespace} --type=merge -p ${patch}`;
}

function inSingleQuotes(json: string): string {
  return `'${visible(json).replaceAll("'", '\\u0027')}'`;
}

function answerOf({kind, options, schema}: QuestionObject['spec']): {answer: object; left: number} {
  if (kind === 'Elicitation') return contentOf(schema);
  const ids = options?.map(({id}) => id) ?? [];
  if (ids.length === 0) return {answer: {text: ANSWER_PLACEHOLDER}, left: 0};
  return {answer: {option: `<one of: ${asManyAsFit(ids, MAX_OPTIONS_SHOWN).join(', ')}>`}, left: 0};
}

/** The first ones that have room together as they will stand in the command, where some characters take many bytes. */
function asManyAsFit(texts: readonly string[], max: number): string[] {
  const fitting: string[] = [];
  let room = max;
  for (const text of texts) {
    room -= jsonBytes(inSingleQuotes(JSON.stringify(text)));
    if (room < 0) return fitting.length < texts.length ? [...fitting, '...'] : fitting;
    fitting.push(text);
  }
  return fitting;
}

/** The fields of a form, those first that it needs, as many as there is room for. */
function contentOf(schema: string | undefined): {answer: {content: string}; left: number} {
  const fields = readForm(schema)?.fields;
  if (fields === undefined) return {answer: {content: '{<fields of spec.schema, as JSON>}'}, left: 0};
  // `{}` would be an answer as it stands.
  if (fields.length === 0) return {answer: {content: '{<nothing to fill in: take this out to accept>}'}, left: 0};
  const named: string[] = [];
  let room = MAX_FIELDS_SHOWN;
  for (const field of [...fields].sort((a, b) => Number(b.required) - Number(a.required))) {
    const member = `${JSON.stringify(field.name)}:${openValue(field)}`;
    room -= jsonBytes(inSingleQuotes(JSON.stringify(member)));
    if (room < 0) break;
    named.push(member);
  }
  const left = fields.length - named.length;
  const content = named.length === 0 ? '{<fields of spec.schema, as JSON>}' : `{${named.join(',')}}`;
  return {answer: {content}, left: named.length === 0 ? 0 : left};
}

/** Quoted where the value is text. Elsewhere it is bare, so that whoever fills it in writes a number and no text. */
function openValue(field: Field): string {
  const texts = field.choices !== undefined && [...field.choices].every((one) => typeof one === 'string');
  const open = placeholder(field);
  const value = texts || (field.type === 'string' && field.choices === undefined) ? JSON.stringify(open) : open;
  return field.type === 'array' ? `[${value}]` : value;
}
