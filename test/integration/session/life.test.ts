import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';
import {answer, change, describeSession, eventsOf, field, openQuestion, podsOf} from './person.ts';

describe('the life of a session, with plain kubectl', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'life');
    const {scriptedAgent, workspace} = place.release.images;
    const of = (kind: string, name: string, spec: object) => ({
      apiVersion: 'carrel.dev/v1alpha1',
      kind,
      metadata: {name},
      spec,
    });
    const command = ['/usr/local/bin/node', '/app/scripted-agent.js'];
    const agent = {image: scriptedAgent, command, workspace: {size: '64Mi', image: workspace}};
    const items = [
      of('Agent', 'scribe', agent),
      of('Session', 'one', {agent: 'scribe', prompt: 'read LICENSE\nremember colour green'}),
      of('Session', 'closes', {agent: 'scribe', prompt: 'permission finish the work'}),
      of('Session', 'cancels', {agent: 'scribe', prompt: 'stall 600'}),
    ];
    await place.kubectl(['create', '-f', '-'], JSON.stringify({apiVersion: 'v1', kind: 'List', items}));
  });
  afterAll(async () => {
    await place.remove();
  });

  it('answers the first prompt from its seeded workspace', async () => {
    const turn = await place.untilTurn('one', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', stopReason: 'EndTurn', archived: true});
    expect(turn.status?.response).toContain('Apache License');
    const idle = await place.untilSession('one', (s) => s.status?.phase === 'Idle');
    expect(idle.status).toMatchObject({turns: 1, queued: 0, attempt: 1});
    expect(idle.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([['Ready', 'True', 'Idle']]);
    expect(JSON.stringify(idle.status?.runner)).not.toContain('findings');
  });

  it('an Agent applied together with its Session alarms nobody', async () => {
    const events = await eventsOf(place, 'one');
    expect(events.map((e) => e.reason)).toContain('PodCreated');
    // On a busy machine images take their time, and that is said.
    const alarms = events.filter((e) => e.type === 'Warning' && e.reason !== 'ImagePullWaiting');
    expect(alarms.map((e) => `${e.reason}: ${e.note}`)).toEqual([]);
  });

  it('remembers in the second turn what the first one said', async () => {
    await place.turn('second', 'one', 'recall colour');
    const turn = await place.untilTurn('one', 2);
    expect(turn.status?.response).toContain('green');
    expect(turn.spec.author).toMatchObject({kind: 'Human'});
    expect(turn.metadata.ownerReferences?.[0]).toMatchObject({kind: 'Session', name: 'one'});
  });

  it('sleeps without a pod, and a turn wakes it with conversation and workspace kept', async () => {
    await change(place, 'sessions', 'one', {desired: 'Sleeping'});
    await place.untilSession('one', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
    expect(await podsOf(place, 'one')).toEqual([]);
    expect(await field(place, 'one', '.status.stoppedReason')).toBe('Idle');
    expect(await describeSession(place, 'one')).toMatch(/Stopped Reason:\s+Idle/);
    await place.turn('third', 'one', 'read LICENSE\nrecall colour');
    const turn = await place.untilTurn('one', 3);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('green')});
    const session = await place.get('one');
    expect(session.status).toMatchObject({attempt: 2, runner: {conversation: 'Resumed'}});
    // Nothing is runnable any more, and it is still to sleep.
    await place.untilSession('one', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
  });

  it('archived, it refuses turns; brought back, it remembers', async () => {
    await change(place, 'sessions', 'one', {desired: 'Archived'});
    const away = await place.untilSession('one', (s) => s.status?.phase === 'Archived');
    expect(away.status?.stoppedReason).toBe('Archived');
    await place.turn('refused', 'one', 'say nobody hears this');
    const refused = await until(60_000, async () => {
      const turn = (await place.turns('one')).find((t) => t.metadata.name === 'refused');
      expect(turn?.status?.phase).toBe('Cancelled');
      return turn;
    });
    expect(refused?.status?.error).toMatchObject({code: 'session_closed', message: expect.stringContaining('Active')});
    await change(place, 'sessions', 'one', {desired: 'Active'});
    await place.untilSession('one', (s) => s.status?.phase === 'Sleeping');
    await place.turn('back', 'one', 'recall colour');
    expect((await place.untilTurn('one', 4)).status?.response).toContain('green');
  });

  it('restart replaces the pod of an idle session, and the conversation goes on', async () => {
    const before = await place.untilSession('one', (s) => s.status?.phase === 'Idle');
    await change(place, 'sessions', 'one', {restart: 1});
    const after = await place.untilSession('one', (s) => s.status?.restart === 1 && s.status.runner?.state === 'Ready');
    expect(after.status?.attempt).toBe((before.status?.attempt ?? 0) + 1);
    await place.turn('again', 'one', 'recall colour');
    expect((await place.untilTurn('one', 5)).status?.response).toContain('green');
  });

  it('closed, it ends after the running turn', async () => {
    const question = await openQuestion(place, 'closes', 'Permission');
    await place.turn('too-late', 'closes', 'say never');
    await until(60_000, async () => expect((await place.get('closes')).status?.queued).toBe(1));
    await change(place, 'sessions', 'closes', {desired: 'Closed'});
    await place.untilSession('closes', (s) => s.status?.phase === 'Closing');
    await answer(place, question, {option: 'allow'});
    const [first, second] = [await place.untilTurn('closes', 1), await place.untilTurn('closes', 2)];
    expect(first.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('permission: allow')});
    expect(second.status).toMatchObject({phase: 'Cancelled', error: {code: 'session_closed'}});
    const closed = await place.untilSession('closes', (s) => s.status?.phase === 'Closed');
    expect(closed.status).toMatchObject({stoppedReason: 'Closed', turns: 1});
    expect(closed.status?.conditions?.map((c) => `${c.type}=${c.status} ${c.reason}`).sort()).toEqual([
      'Complete=True Closed',
      'Ready=True Closed',
    ]);
    await until(60_000, async () => expect(await podsOf(place, 'closes')).toEqual([]));
  });

  it('cancelled, it ends now, with the running turn interrupted', async () => {
    await place.untilSession('cancels', (s) => s.status?.phase === 'Running');
    await change(place, 'sessions', 'cancels', {desired: 'Cancelled'});
    const closed = await place.untilSession('cancels', (s) => s.status?.phase === 'Closed');
    expect(closed.status).toMatchObject({stoppedReason: 'Cancelled'});
    expect((await place.untilTurn('cancels', 1)).status?.phase).toBe('Interrupted');
    await expect(change(place, 'sessions', 'cancels', {desired: 'Active'})).resolves.toContain('patched');
    expect((await place.get('cancels')).status?.phase).toBe('Closed');
  });

  it('leaves nothing when it is deleted', async () => {
    await place.kubectl(['delete', 'sessions.carrel.dev', '--all', '--wait=true', '--timeout=120s']);
    await until(120_000, async () => {
      expect(await place.pods()).toEqual([]);
      expect((await place.kubectl(['get', 'pvc,turns.carrel.dev,questions.carrel.dev', '-o', 'name'])).trim()).toBe('');
    });
  });
});
