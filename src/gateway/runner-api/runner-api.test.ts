import {afterEach, describe, expect, it} from 'vitest';
import {type Bench, startWithTurn} from '../../../test/support/runner-api-bench.ts';
import {POD_NAME, record, session} from '../../../test/support/runner-objects.ts';
import {Sessions} from '../../kube/kinds.ts';

let bench: Bench;
afterEach(() => bench.close());

describe('who may call the runner API', () => {
  const pods = [
    {state: 'a token that is not accepted', token: 'bad', status: 401},
    {state: 'a review that could not be made', pod: 'none' as const, status: 503},
    {state: 'a pod that the session does not name yet', pod: {uid: 'new', name: 'carrel-one-aaaaaaaa-2'}, status: 425},
    {state: 'a pod of an earlier attempt', pod: {uid: 'old', name: 'carrel-one-aaaaaaaa-0'}, status: 410},
    {state: 'another pod of the present attempt', pod: {uid: 'foreign', name: POD_NAME}, status: 410},
    {state: 'a pod of an older session of that name', pod: {uid: 'old', name: 'carrel-one-bbbbbbbb-9'}, status: 410},
    {state: 'a pod of a session that is gone', pod: {uid: 'old', name: 'carrel-two-aaaaaaaa-1'}, status: 410},
    {state: 'a pod that is none of ours', pod: {uid: 'x', name: 'nginx'}, status: 410},
  ];
  for (const {state, pod, token = 'it', status} of pods) {
    it(`${state} gets ${status}, on every path`, async () => {
      bench = await startWithTurn();
      if (pod !== undefined) bench.tokens.set('it', pod);
      expect((await bench.post([record('x')], 1, token)).status).toBe(status);
      expect((await bench.call('GET', '/runner/v1/context', {token})).status).toBe(status);
      expect((await bench.open(token)).status).toBe(status);
      expect(await bench.texts()).toEqual([]);
    });
  }

  it('refuses a second credential beside the token', async () => {
    bench = await startWithTurn();
    const both = {headers: {'x-api-key': 'another'}};
    expect((await bench.call('GET', '/runner/v1/context', both)).status).toBe(401);
    expect((await bench.call('GET', '/runner/v1/context')).status).toBe(200);
  });

  it('never takes the pod from the body', async () => {
    bench = await startWithTurn();
    const body = {podUid: 'other', epoch: 1, from: 1, events: [record('x')]};
    expect((await bench.call('POST', '/runner/v1/events', {body})).status).toBe(400);
    expect(await bench.texts()).toEqual([]);
  });

  it('takes a pod that only the API server knows as bound, while the cache is behind', async () => {
    bench = await startWithTurn();
    bench.api.endWatches('break');
    bench.api.fault = (r) => (r.query.has('watch') ? 'hang' : undefined);
    bench.api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    bench.tokens.set('second', {uid: 'pod-uid-2', name: 'carrel-one-aaaaaaaa-2'});
    expect((await bench.call('GET', '/runner/v1/context', {token: 'second'})).status).toBe(200);
  });
});

describe('the context of a conversation', () => {
  it('is the end of the transcript, without numbers and hashes', async () => {
    bench = await startWithTurn();
    await bench.post([record('a'), record('b')]);
    const {status, body} = await bench.call('GET', '/runner/v1/context');
    expect([status, body]).toEqual([
      200,
      {records: [record('a'), record('b')].map((r) => ('record' in r ? r.record : r))},
    ]);
  });

  it('of one record that is larger than allowed is its last part', async () => {
    bench = await startWithTurn();
    await bench.post([record(`${'x'.repeat(100_000)}end`)]);
    const {body} = await bench.call('GET', '/runner/v1/context');
    const text = JSON.stringify(body);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('end');
  });
});
