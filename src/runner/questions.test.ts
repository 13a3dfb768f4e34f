import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {Journal} from './journal.ts';
import {Questions} from './questions.ts';
import {Reporter} from './reporter.ts';
import {StateFile} from './state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-questions-'));
});
afterEach(() => rmSync(folder, {recursive: true}));

/** The question that goes out for this input of a tool call. */
async function asked(rawInput: unknown) {
  const journal = new Journal(folder, 1);
  const questions = new Questions(new Reporter(journal, () => new Date(0)), new StateFile(folder));
  const turn = {uid: 'u', name: 'n', record: {uid: 'u', sequence: 1}};
  const toolCall = {toolCallId: 't', title: 'run', rawInput};
  const reply = questions.permission(
    turn,
    {sessionId: 's', toolCall, options: [], known: {}},
    new AbortController().signal,
  );
  questions.withdrawAll();
  await reply;
  return journal.batch()?.events.find((event) => event.type === 'question')?.text ?? '';
}

test('a person reads the input of a tool call indented', async () => {
  expect(await asked({command: 'ls'})).toBe('The agent asks for permission: run\n{\n  "command": "ls"\n}');
});

test('an input whose indentation would fill the memory is shown without', async () => {
  let deep: unknown = Array.from({length: 2_000}, () => 1);
  for (let depth = 0; depth < 2_000; depth += 1) deep = [deep];
  const text = await asked(deep);
  expect(text).toContain('[[[[');
  expect(text.length).toBeLessThanOrEqual(8_192);
});

test('of a long input a person reads the beginning', async () => {
  const text = await asked({long: 'x'.repeat(100_000)});
  expect(text).toContain('{"long":"xxx');
  expect(text).toHaveLength(8_192);
});

test('a permission that an older object answers in words is refused, and the transcript says why', async () => {
  const journal = new Journal(folder, 1);
  const questions = new Questions(new Reporter(journal, () => new Date(0)), new StateFile(folder));
  const turn = {uid: 'u', name: 'n', record: {uid: 'u', sequence: 1}};
  const options = [
    {optionId: 'allow', name: 'Allow', kind: 'allow_once'},
    {optionId: 'reject', name: 'Reject', kind: 'reject_once'},
  ];
  const asked = {sessionId: 's', toolCall: {toolCallId: 't'}, options, known: {}};
  const reply = questions.permission(turn, asked, new AbortController().signal);
  const requestId = journal.batch()?.events.flatMap((event) => (event.type === 'question' ? [event.requestId] : []))[0];
  questions.answer([{question: 'q1', uid: 'q', requestId: requestId ?? '', outcome: 'Answered', text: 'yes, go on'}]);
  expect(await reply).toEqual({outcome: 'selected', optionId: 'reject'});
  const records = journal.batch()?.events.flatMap((event) => (event.type === 'record' ? [event.record] : []));
  expect(records?.at(-1)).toMatchObject({
    kind: 'notice',
    text: expect.stringContaining('The answer of question q1 names none of its options (allow, reject)'),
  });
});
