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
      const why = answer === quota ? quota.message : expect.any(String);
      const refused = event.type === 'question' ? {refused: [{requestId: 'r1', why}]} : {};
      expect(await bench.post([event])).toEqual({status: 200, body: {acked: 1, ...refused}});
      expect(await bench.post([finished], 2)).toEqual({status: 200, body: {acked: 2}});
      expect(bench.api.get(Turns, {namespace: 'team-a', name: 't1'})?.status?.phase).toBe('Completed');
    });
  }
});

describe('a question behind a webhook that does not answer', () => {
  const broken = {status: 500, body: {kind: 'Status', message: 'Internal error: failed calling webhook "no.example"'}};
  const asked = (secondsAgo: number) => ({
    ...question,
    expiresAt: new Date(Date.now() + (3_600 - secondsAgo) * 1_000).toISOString(),
  });
  const post = async (...events: readonly object[]) => {
    bench = await startBench((api) => {
      api.put(Sessions, session());
      api.put(Turns, turn());
    });
    bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
    bench.api.fault = ({method, path}) => (method === 'POST' && path.endsWith('/questions') ? broken : undefined);
    return await bench.post(events);
  };
  const phase = () => bench.api.get(Turns, {namespace: 'team-a', name: 't1'})?.status?.phase;

  it('is asked again while the webhook may be on its way back', async () => {
    expect(await post(asked(30))).toMatchObject({status: 503});
  });

  it('is given up after a minute: nothing that comes later waits for it any longer', async () => {
    const refused = [{requestId: 'r1', why: expect.stringContaining('failed calling webhook')}];
    expect(await post(asked(61))).toEqual({status: 200, body: {acked: 1, refused}});
  });

  it.each([
    ['the agent took it back', {type: 'withdrawn', requestId: 'r1', turnUid: 'turn-uid-1'}, 'Running'],
    ['its turn has ended', finished, 'Completed'],
  ])('is not asked any more when %s', async (_why, later, then) => {
    expect(await post(asked(1), later)).toMatchObject({status: 200, body: {acked: 2}});
    expect(phase()).toBe(then);
    expect(bench.api.requests.filter((r) => r.method === 'POST' && r.path.endsWith('/questions'))).toEqual([]);
  });
});

describe('a turn that asks without end', () => {
  it('gets no more Questions than a turn may have, and ends as it would', async () => {
    bench = await startBench((api) => {
      api.put(Sessions, session());
      api.put(Turns, turn());
      for (let i = 0; i < 250; i++) api.put(Questions, made({name: `old-${i}`, status: {phase: 'Withdrawn'}}));
    });
    bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
    const refused = [{requestId: 'r1', why: 'a turn may have 250 Questions'}];
    expect(await bench.post([question])).toEqual({status: 200, body: {acked: 1, refused}});
    expect(await bench.post([finished], 2)).toEqual({status: 200, body: {acked: 2}});
    expect(bench.api.list(Questions)).toHaveLength(250);
    expect(bench.api.get(Turns, {namespace: 'team-a', name: 't1'})?.status?.phase).toBe('Completed');
  });
});
