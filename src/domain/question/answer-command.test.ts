import {describe, expect, it} from 'vitest';
import {question} from '../../../test/support/session-objects.ts';
import {ANSWER_PLACEHOLDER} from '../../api/v1alpha1/index.ts';
import {answerHint} from './answer-command.ts';
import {answerProblems} from './form-problems.ts';

const asked = (schema: string | undefined) =>
  question('q', {kind: 'Elicitation', ...(schema === undefined ? {} : {schema})});
const form = (properties: object, required: string[] = []) => JSON.stringify({type: 'object', properties, required});

/** The answer that the command gives when nothing in it is filled in. */
function pasted(hint: string): {content?: string; text?: string} {
  const patch = /^with[^:]*: kubectl patch questions\.carrel\.dev q -n team --type=merge -p '([^']*)'$/.exec(hint)?.[1];
  return JSON.parse(patch ?? hint).spec.answer;
}

describe('the command that answers a form', () => {
  it.each<[string, string | undefined, string]>([
    ['a text', form({name: {type: 'string'}}, ['name']), '{"name":"<text>"}'],
    [
      'an optional text',
      form({name: {type: 'string', maxLength: 9}}),
      '{"name":"<text, at most 9 characters, optional>"}',
    ],
    [
      'numbers',
      form({a: {type: 'integer'}, b: {type: 'number', minimum: 0.5}}, ['a', 'b']),
      '{"a":<whole number>,"b":<number, at least 0.5>}',
    ],
    ['a boolean', form({ok: {type: 'boolean'}}, ['ok']), '{"ok":<true or false>}'],
    ['a choice', form({c: {type: 'string', enum: ['r', 'g']}}, ['c']), '{"c":"<one of: r, g>"}'],
    ['a choice of numbers', form({c: {enum: [1, 2]}}, ['c']), '{"c":<one of: 1, 2>}'],
    ['choices', form({c: {type: 'array', items: {anyOf: [{const: 'r'}]}}}, ['c']), '{"c":["<any of: r>"]}'],
    [
      'what is needed first',
      form({a: {type: 'boolean'}, b: {type: 'string'}}, ['b']),
      '{"b":"<text>","a":<true or false, optional>}',
    ],
    ['a type that is not known', form({a: {type: 'object'}}, ['a']), '{"a":<any value>}'],
    ['no fields', form({}), '{<nothing to fill in: take this out to accept>}'],
    ['fields that stand elsewhere', '{"type":"object","$ref":"#/x"}', '{<fields of spec.schema, as JSON>}'],
    ['no form', undefined, '{<fields of spec.schema, as JSON>}'],
    ['a form that is no JSON', '{', '{<fields of spec.schema, as JSON>}'],
    ['a name with a quote', form({"it's": {type: 'string'}}, ["it's"]), `{"it's":"<text>"}`],
    [
      'a name that is code',
      form({"'; $(rm -rf ~); `x` \\": {}}, ["'; $(rm -rf ~); `x` \\"]),
      `{"'; $(rm -rf ~); \`x\` \\\\":<any value>}`,
    ],
    ['a name that nobody sees', form({'\u3164': {}}, ['\u3164']), '{"\u3164":<any value>}'],
    ['a name that moves text', form({'\u202E\u001b[2J': {}}, ['\u202E\u001b[2J']), '{"\u202E\\u001b[2J":<any value>}'],
    ['a choice with a quote', form({c: {enum: ["a'b", 'c"d']}}, ['c']), `{"c":"<one of: \\"a'b\\", \\"c\\\\\\"d\\">"}`],
  ])('names %s, is one argument for a shell, and is no answer as it stands', (_state, schema, content) => {
    const hint = answerHint(asked(schema));
    expect(pasted(hint)).toEqual({content});
    expect(hint).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
    expect(answerProblems(question('q', {...asked(schema).spec, answer: {content}}))).not.toEqual([]);
  });

  it('says how many fields it leaves out', () => {
    const many = Array.from({length: 100}, (_, at) => [`field-${at}`, {type: 'string'}] as const);
    const hint = answerHint(asked(form(Object.fromEntries(many), ['field-99'])));
    const shown = Object.keys(JSON.parse(pasted(hint).content ?? ''));
    expect(shown[0]).toBe('field-99');
    expect(hint).toMatch(new RegExp(`^with \\(${100 - shown.length} more fields are in spec.schema\\): kubectl`));
    expect(Buffer.byteLength(JSON.stringify(hint))).toBeLessThan(640);
  });

  it('names no field where none has room', () => {
    const schema = form({['x'.repeat(9_000)]: {type: 'string'}});
    expect(pasted(answerHint(asked(schema)))).toEqual({content: '{<fields of spec.schema, as JSON>}'});
  });
});

it('the command that answers an Ask holds what the API server refuses', () => {
  expect(pasted(answerHint(question('q')))).toEqual({text: ANSWER_PLACEHOLDER});
});

it('the command that answers by an option names as many as have room, whole', () => {
  const options = Array.from({length: 32}, (_, at) => ({id: `${"'".repeat(20)}${at}`, label: 'x'}));
  const hint = answerHint(question('q', {options}));
  expect(hint).toMatch(/^with: kubectl .* -p '[^']*, \.\.\.>"}}}'$/);
  expect(Buffer.byteLength(JSON.stringify(hint))).toBeLessThan(640);
});
