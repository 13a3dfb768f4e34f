import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {Turns} from '../../../src/kube/kinds.ts';
import {makePlace, type Place} from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await makePlace('turn');
});
afterAll(async () => {
  await place.remove();
});

const phase = (wanted: string) => (t: {status?: {phase?: string | undefined} | undefined}) =>
  t.status?.phase === wanted;
const turn = (name: string, session: string, more: object = {}) =>
  place.create('Turn', name, {session, input: [{text: 'hello'}], ...more});

describe('turns made with plain kubectl', () => {
  it('one without a Session waits and says so; it is admitted when the Session comes', async () => {
    await turn('early', 'not-yet');
    const waiting = await place.turnIs('early', (t) => t.status?.conditions !== undefined);
    expect(waiting.status?.phase).toBeUndefined();
    expect(waiting.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Ready', 'False', 'SessionNotFound'],
      ['Stalled', 'True', 'SessionNotFound'],
    ]);
    await place.create('Session', 'not-yet', {agent: 'scribe'});
    const queued = await place.turnIs('early', phase('Queued'));
    expect(queued.status?.conditions?.map((c) => c.type)).toEqual(['Ready', 'Reconciling']);
  });

  it('are adopted, and go with their Session', async () => {
    const adopted = await place.turnIs('early', (t) => t.metadata.ownerReferences !== undefined);
    expect(adopted.metadata.ownerReferences).toMatchObject([
      {kind: 'Session', name: 'not-yet', blockOwnerDeletion: false},
    ]);
    await place.kubectl('delete', 'sessions.carrel.dev', 'not-yet');
    await place.until('gone', async () =>
      (await place.client.find(Turns, {namespace: place.namespace, name: 'early'})) === undefined ? true : undefined,
    );
  });

  it('one made for an earlier Session of that name is cancelled', async () => {
    await turn('old', 'again');
    const {metadata} = await place.turnIs('old', (t) => t.status?.conditions !== undefined);
    const {namespace, name, resourceVersion} = metadata;
    const status = {sessionUID: 'an-earlier-one'};
    await place.client.patchStatusMerge(Turns, {namespace, name}, {resourceVersion, status});
    await place.create('Session', 'again', {agent: 'scribe'});
    const ended = await place.turnIs('old', phase('Cancelled'));
    expect(ended.status).toMatchObject({error: {code: 'session_replaced'}, archived: true});
    await place.kubectl('delete', 'sessions.carrel.dev', 'again');
  });
});

describe('the queue', () => {
  it('runs promoted turns first and an interrupting one before all; a withdrawn one never runs', async () => {
    await place.idle('queue');
    await turn('q1', 'queue');
    await place.turnIs('q1', phase('Running'));
    for (const name of ['q2', 'q3', 'q4']) {
      await turn(name, 'queue');
      await place.turnIs(name, phase('Queued'));
    }
    await place.patch('turns.carrel.dev', 'q2', {stop: 'Withdraw'});
    expect((await place.turnIs('q2', phase('Cancelled'))).status?.error?.code).toBe('withdrawn');
    await place.patch('turns.carrel.dev', 'q4', {promotedAt: '2020-01-01T00:00:00Z'});
    await turn('q5', 'queue', {delivery: 'Interrupt'});
    const interrupting = await place.turnIs('q5', phase('Queued'));
    expect(interrupting.status?.interrupts).toEqual({turnUID: (await place.turn('q1')).metadata.uid});
    await place.sessionIs('queue', (s) => s.status?.queued === 3);
    const order: string[] = [];
    for (const next of ['q1', 'q5', 'q4', 'q3']) {
      await place.turnIs(next, phase('Running'));
      order.push(next);
      await place.finish(next, next === 'q1' ? {phase: 'Interrupted'} : {phase: 'Completed'});
    }
    expect(order).toEqual(['q1', 'q5', 'q4', 'q3']);
    const idle = await place.sessionIs('queue', (s) => s.status?.phase === 'Idle');
    expect(idle.status).toMatchObject({turns: 4, lastSequence: 5, queued: 0});
  });

  it('twice is a no-op: a new leader writes nothing, whatever the turns wait for', async () => {
    await turn('t1', 'queue');
    await place.turnIs('t1', phase('Running'));
    await turn('t2', 'queue');
    await turn('alone', 'nobody');
    await place.turnIs('alone', (t) => t.status?.conditions !== undefined);
    for (const [name, as] of [
      ['t1', 'Running'],
      ['t2', 'Queued'],
    ] as const)
      await place.turnIs(name, (t) => t.status?.phase === as && t.metadata.ownerReferences !== undefined);
    await place.sessionIs('queue', (s) => s.status?.queued === 1);
    await place.settled();
    const before = await place.versions();
    expect(before.join(' ')).toMatch(/Turn\/alone@.*Turn\/t1@.*Turn\/t2@/);
    await place.restart();
    await place.settled();
    expect(await place.versions()).toEqual(before);
    for (const name of ['t1', 't2']) {
      await place.turnIs(name, phase('Running'));
      await place.finish(name);
    }
    await place.sessionIs('queue', (s) => s.status?.phase === 'Idle');
  });

  it('deleting a running turn leaves the session free for the next one', async () => {
    await turn('d1', 'queue');
    await place.turnIs('d1', phase('Running'));
    await turn('d2', 'queue');
    await place.turnIs('d2', phase('Queued'));
    await place.kubectl('delete', 'turns.carrel.dev', 'd1');
    await place.turnIs('d2', phase('Running'));
    await place.finish('d2');
  });

  it('keeps as many ended turns as turnHistoryLimit says, and none that is not archived is deleted', async () => {
    await place.patch('sessions.carrel.dev', 'queue', {turnHistoryLimit: 2});
    await place.until('old turns are gone', async () => {
      const all = (await place.client.list(Turns, {namespace: place.namespace})).items.filter(
        (t) => t.spec.session === 'queue',
      );
      return all.length === 2 ? true : undefined;
    });
  });

  it('turns for a session that is closed are cancelled', async () => {
    await place.patch('sessions.carrel.dev', 'queue', {desired: 'Closed'});
    await place.sessionIs('queue', (s) => s.status?.phase === 'Closed');
    await turn('late', 'queue');
    expect((await place.turnIs('late', phase('Cancelled'))).status?.error?.code).toBe('session_closed');
  });
});
