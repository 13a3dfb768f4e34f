import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {desiredDocument} from '../../test/support/desired-document.ts';
import type {Desired} from '../api/wire/runner.ts';
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

describe('a question that no Question stands for', () => {
  beforeEach(() => void vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']}));
  afterEach(() => void vi.useRealTimers());

  const turn = {name: 'n', uid: 'u', sequence: 1, input: [], preface: []};
  const document = (change: Partial<Desired> = {}) => desiredDocument({turn, questions: [], ...change});

  /** A permission that was asked for, and that the gateway has stored unless a test says otherwise. */
  function ask(stored = true) {
    const journal = new Journal(folder, 1);
    const questions = new Questions(new Reporter(journal, () => new Date(0)), new StateFile(folder));
    const asking = {uid: 'u', name: 'n', record: {uid: 'u', sequence: 1}};
    const options = [{optionId: 'allow', name: 'Allow', kind: 'allow_once'}];
    const wanted = {sessionId: 's', toolCall: {toolCallId: 't'}, options, known: {}};
    let reply: object | undefined;
    void questions.permission(asking, wanted, new AbortController().signal).then((said) => (reply = said));
    const store = () => journal.acknowledge(1, 1);
    if (stored) store();
    const told = () => (journal.batch()?.events ?? []).map((e) => (e.type === 'record' ? e.record : e));
    const pass = async (milliseconds: number) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
      return reply;
    };
    return {questions, store, told, pass};
  }

  test('is taken back after 5 s, and gateway and transcript are told', async () => {
    const {questions, told, pass} = ask();
    questions.compare(document(), true);
    expect(await pass(4_999)).toBeUndefined();
    questions.compare(document(), true);
    expect(await pass(1)).toEqual({outcome: 'cancelled'});
    expect(told().slice(-2)).toEqual([
      {type: 'withdrawn', requestId: '0-1', turnUid: 'u'},
      expect.objectContaining({kind: 'answer', data: {requestId: '0-1', outcome: 'Withdrawn'}}),
    ]);
  });

  test.each<[string, Partial<Desired>]>([
    ['it is there after all', {questions: ['0-1']}],
    ['the gateway cannot tell any more', {questions: undefined}],
  ])('waits on when %s: the next absence counts from its own beginning', async (_why, change) => {
    const {questions, pass} = ask();
    questions.compare(document(), true);
    await pass(4_999);
    questions.compare(document(change), false);
    expect(await pass(60_000)).toBeUndefined();
    questions.compare(document(), true);
    expect(await pass(4_999)).toBeUndefined();
    expect(await pass(1)).toEqual({outcome: 'cancelled'});
  });

  test('waits while the gateway has not stored it; what counts is a document of later', async () => {
    const {questions, store, pass} = ask(false);
    questions.compare(document(), true);
    expect(await pass(60_000)).toBeUndefined();
    store();
    expect(await pass(60_000)).toBeUndefined();
    questions.compare(document(), true);
    expect(await pass(5_000)).toEqual({outcome: 'cancelled'});
  });

  test('waits on when a replica that never named it changes its document: it may hear nothing of the API any more', async () => {
    const {questions, pass} = ask();
    questions.compare(document(), false);
    expect(await pass(3_600_000)).toBeUndefined();
    questions.compare(document({questions: ['0-1']}), false);
    questions.compare(document(), false);
    questions.compare(document(), false);
    expect(await pass(5_000)).toEqual({outcome: 'cancelled'});
  });

  test('waits on when the stream ends within the 5 s: the next one says it anew', async () => {
    const {questions, pass} = ask();
    questions.compare(document(), true);
    await pass(4_999);
    questions.streamEnded();
    expect(await pass(60_000)).toBeUndefined();
    questions.compare(document(), true);
    questions.compare(document(), false);
    expect(await pass(5_000)).toEqual({outcome: 'cancelled'});
  });

  test('is taken back at once when the gateway says that it made none', async () => {
    const {questions, told, pass} = ask();
    questions.refused([{requestId: '0-2', why: 'x'}]);
    expect(await pass(0)).toBeUndefined();
    questions.refused([{requestId: '0-1', why: 'exceeded quota'}]);
    questions.refused([{requestId: '0-1', why: 'exceeded quota'}]);
    expect(await pass(0)).toEqual({outcome: 'cancelled'});
    const notices = told().filter((e) => 'kind' in e && e.kind === 'notice');
    expect(notices).toEqual([expect.objectContaining({text: expect.stringContaining('exceeded quota')})]);
    expect(told().at(-1)).toMatchObject({kind: 'answer', data: {requestId: '0-1', outcome: 'Withdrawn'}});
  });

  test('is answered when the answer comes first, and told once', async () => {
    const {questions, told, pass} = ask();
    questions.compare(document(), true);
    await pass(4_999);
    questions.answer([{question: 'q', uid: 'qu', requestId: '0-1', outcome: 'Answered', option: 'allow'}]);
    expect(await pass(60_000)).toEqual({outcome: 'selected', optionId: 'allow'});
    expect(told().flatMap((e) => ('type' in e ? [e.type] : []))).toEqual(['delivered']);
  });
});
