import {afterEach, describe, expect, it} from 'vitest';
import {type Bench, startBench} from '../../../test/support/runner-api-bench.ts';
import {question as made, POD_NAME, POD_UID, session, turn} from '../../../test/support/runner-objects.ts';
import {Questions, Sessions, Turns} from '../../kube/kinds.ts';

let bench: Bench;
afterEach(() => bench.close());

const at = '2026-01-01T00:00:00Z';
const turnOne = {turnUid: 'turn-uid-1', turnName: 't1'};
const finished = {type: 'turnFinished', ...turnOne, phase: 'Completed', stopReason: 'EndTurn', finishedAt: at};
const question = {
  type: 'question',
  ...turnOne,
  requestId: 'r1',
  kind: 'Permission',
  text: 'Write?',
  expiresAt: '2099-01-01T00:00:00Z',
};
const invalid = {
  reason: 'Invalid',
  code: 422,
  details: {causes: [{reason: 'FieldValueInvalid', message: 'too long', field: 'x'}]},
};
const quota = {reason: 'Forbidden', code: 403, message: 'exceeded quota: q, requested: count/questions.carrel.dev=1'};

describe('an object that the API server refuses for good', () => {
  const cases = [
    {what: 'a question beyond a quota', event: question, path: '/questions', answer: quota},
    {
      what: 'a report that breaks the schema',
      event: {type: 'report', state: 'Ready'},
      path: '/one/status',
      answer: invalid,
    },
  ];
  for (const {what, event, path, answer} of cases) {
    it(`${what} does not hold up the end of the turn`, async () => {
      bench = await startBench((api) => {
        api.put(Sessions, session());
        api.put(Turns, turn());
      });
      bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
      bench.api.fault = ({method, path: asked}) =>
        method !== 'GET' && asked.endsWith(path) ? {status: answer.code, body: {kind: 'Status', ...answer}} : undefined;
      const body = {podUid: POD_UID, epoch: 1, from: 1, events: [event, finished]};
      const refused = event.type === 'question' ? {refused: ['r1']} : {};
      expect(await bench.call('POST', '/runner/v1/events', {token: 'good', body})).toEqual({
        status: 200,
        body: {acked: 2, ...refused},
      });
      expect(bench.api.get(Turns, {namespace: 'team-a', name: 't1'})?.status?.phase).toBe('Completed');
    });
  }
});

describe('a turn that asks without end', () => {
  it('gets no more Questions than a turn may have, and ends as it would', async () => {
    bench = await startBench((api) => {
      api.put(Sessions, session());
      api.put(Turns, turn());
      for (let i = 0; i < 250; i++) api.put(Questions, made({name: `old-${i}`, status: {phase: 'Withdrawn'}}));
    });
    bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
    const body = {podUid: POD_UID, epoch: 1, from: 1, events: [question, finished]};
    expect(await bench.call('POST', '/runner/v1/events', {token: 'good', body})).toEqual({
      status: 200,
      body: {acked: 2, refused: ['r1']},
    });
    expect(bench.api.list(Questions)).toHaveLength(250);
    expect(bench.api.get(Turns, {namespace: 'team-a', name: 't1'})?.status?.phase).toBe('Completed');
  });
});
