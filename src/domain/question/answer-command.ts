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
  const named = asManyAsFit(ids, MAX_OPTIONS_SHOWN);
  return {
    answer: {option: `<one of: ${[...named, ...(named.length < ids.length ? ['...'] : [])].join(', ')}>`},
    left: 0,
  };
}

/** The first ones that have room together as they will stand in the command, where some characters take many bytes. */
function asManyAsFit(texts: readonly string[], max: number): readonly string[] {
  let room = max;
  const over = texts.findIndex((text) => {
    room -= jsonBytes(inSingleQuotes(JSON.stringify(text)));
    return room < 0;
  });
  return over === -1 ? texts : texts.slice(0, over);
}

const ANY_CONTENT = '{<fields of spec.schema, as JSON>}';

/** The fields of a form, those first that it needs, as many as there is room for. */
function contentOf(schema: string | undefined): {answer: {content: string}; left: number} {
  const fields = readForm(schema)?.fields;
  if (fields === undefined) return {answer: {content: ANY_CONTENT}, left: 0};
  // `{}` would be an answer as it stands.
  if (fields.length === 0) return {answer: {content: '{<nothing to fill in: take this out to accept>}'}, left: 0};
  const needed = [...fields].sort((a, b) => Number(b.required) - Number(a.required));
  const named = asManyAsFit(
    needed.map((field) => `${JSON.stringify(field.name)}:${openValue(field)}`),
    MAX_FIELDS_SHOWN,
  );
  if (named.length === 0) return {answer: {content: ANY_CONTENT}, left: 0};
  return {answer: {content: `{${named.join(',')}}`}, left: fields.length - named.length};
}

/** Quoted where the value is text. Elsewhere it is bare, so that whoever fills it in writes a number and no text. */
function openValue(field: Field): string {
  const texts = field.choices !== undefined && [...field.choices].every((one) => typeof one === 'string');
  const open = placeholder(field);
  const value = texts || (field.type === 'string' && field.choices === undefined) ? JSON.stringify(open) : open;
  return field.type === 'array' ? `[${value}]` : value;
}
