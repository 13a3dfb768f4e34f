import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';
import {answer, change, eventsOf, openQuestion, transcript} from './person.ts';

describe('the queue of a session, with plain kubectl', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'queue');
    await place.agent('scribe', {workspace: {size: '64Mi'}, limits: {queued: 4}});
    await place.turn('early', 'late', 'say found it');
    await place.session('busy', {agent: 'scribe', prompt: 'permission go on'});
    await place.session('stalls', {agent: 'scribe', prompt: 'stall 600'});
    await place.session('urgent', {agent: 'scribe', prompt: 'stall 600'});
    await place.session('short', {agent: 'scribe', prompt: 'say first words', turnHistoryLimit: 1});
  });
  afterAll(async () => {
    await place.remove();
  });

  const named = async (session: string, name: string) => {
    const turn = (await place.turns(session)).find((t) => t.metadata.name === name);
    if (turn === undefined) throw new Error(`no turn ${name}`);
    return turn;
  };
  const phaseOf = (session: string, name: string, phase: string) =>
    until(120_000, async () => {
      const turn = await named(session, name);
      expect(turn.status?.phase, JSON.stringify(turn.status)).toBe(phase);
      return turn;
    });

  it('a turn without a session says so, and is taken when the session appears', async () => {
    const waits = await until(60_000, async () => {
      const turn = await named('late', 'early');
      expect(turn.status?.conditions?.map((c) => `${c.type}=${c.status} ${c.reason}`)).toContain(
        'Stalled=True SessionNotFound',
      );
      return turn;
    });
    expect(waits.status?.phase).toBeUndefined();
    await until(60_000, async () =>
      expect((await eventsOf(place, 'early')).map((e) => [e.type, e.reason])).toContainEqual([
        'Warning',
        'SessionNotFound',
      ]),
    );
    await place.session('late', {agent: 'scribe'});
    const turn = await phaseOf('late', 'early', 'Completed');
    expect(turn.status?.response).toContain('found it');
    expect(turn.metadata.ownerReferences?.[0]).toMatchObject({kind: 'Session', name: 'late'});
  });

  it('Z-099 turns queue while one runs; one is withdrawn, one promoted, one more than allowed refused', async () => {
    const question = await openQuestion(place, 'busy', 'Permission');
    for (const name of ['a', 'b', 'c', 'd']) {
      await place.turn(`busy-${name}`, 'busy', `this is ${name}`);
      await phaseOf('busy', `busy-${name}`, 'Queued');
    }
    await place.turn('busy-e', 'busy', 'this is e');
    const refused = await phaseOf('busy', 'busy-e', 'Cancelled');
    expect(refused.status?.error).toMatchObject({
      code: 'queue_full',
      message: expect.stringContaining('limits.queued'),
    });
    await change(place, 'turns', 'busy-b', {stop: 'Withdraw'});
    expect((await phaseOf('busy', 'busy-b', 'Cancelled')).status?.error?.code).toBe('withdrawn');
    await change(place, 'turns', 'busy-c', {promotedAt: new Date().toISOString()});
    await answer(place, question, {option: 'allow'});
    await phaseOf('busy', 'busy-d', 'Completed');
    const said = async (name: string) => (await named('busy', name)).status?.response?.split('\n')[0];
    expect([await said('busy-c'), await said('busy-a'), await said('busy-d')]).toEqual([
      'turn 2: you said "this is c"',
      'turn 3: you said "this is a"',
      'turn 4: you said "this is d"',
    ]);
  });

  it('interrupts a running turn and no other', async () => {
    await place.untilSession('stalls', (s) => s.status?.phase === 'Running');
    await place.turn('waits', 'stalls', 'say still here');
    await phaseOf('stalls', 'waits', 'Queued');
    const [first] = await place.turns('stalls');
    await change(place, 'turns', first?.metadata.name ?? '', {stop: 'Interrupt'});
    expect((await place.untilTurn('stalls', 1)).status).toMatchObject({phase: 'Interrupted', stopReason: 'Cancelled'});
    const next = await phaseOf('stalls', 'waits', 'Completed');
    expect(next.status?.response).toContain('still here');
  });

  it('a deleted turn is stopped, and the session goes on', async () => {
    await place.turn('unwanted', 'stalls', 'stall 600');
    await phaseOf('stalls', 'unwanted', 'Running');
    await place.kubectl(['delete', 'turns.carrel.dev', 'unwanted', '--wait=true', '--timeout=60s']);
    await place.turn('after', 'stalls', 'say goes on');
    expect((await phaseOf('stalls', 'after', 'Completed')).status?.response).toContain('goes on');
    expect((await place.get('stalls')).status?.attempt).toBe(1);
  });

  it('delivery Interrupt ends the running turn and goes before those that wait', async () => {
    await place.untilSession('urgent', (s) => s.status?.phase === 'Running');
    await place.turn('patient', 'urgent', 'I can wait');
    await phaseOf('urgent', 'patient', 'Queued');
    const turn = {session: 'urgent', input: [{text: 'me first'}], delivery: 'Interrupt'};
    await place.create('Turn', 'hasty', turn);
    expect((await place.untilTurn('urgent', 1)).status?.phase).toBe('Interrupted');
    const hasty = await phaseOf('urgent', 'hasty', 'Completed');
    expect(hasty.status?.response).toMatch(/^turn 2: you said "Turn 1 was interrupted .*me first"/);
    expect((await phaseOf('urgent', 'patient', 'Completed')).status?.response).toContain('turn 3');
  });

  it('keeps as many ended turns as turnHistoryLimit says; the archive has them all', async () => {
    await place.untilTurn('short', 1);
    for (const [name, text] of [
      ['short-2', 'say second words'],
      ['short-3', 'say third words'],
    ] as const) {
      await place.turn(name, 'short', text);
      await phaseOf('short', name, 'Completed');
    }
    await until(60_000, async () =>
      expect((await place.turns('short')).map((t) => t.metadata.name)).toEqual(['short-3']),
    );
    await place.untilSession('short', (s) => s.status?.turns === 3 && s.status.lastSequence === 3);
    const records = await transcript(place, 'short');
    for (const [i, words] of ['first words', 'second words', 'third words'].entries()) {
      const said = records.filter((r) => r.kind === 'message' && r.turn?.sequence === i + 1).map((r) => r.text);
      expect(said.join('')).toContain(words);
    }
    expect(records.filter((r) => r.kind === 'turn_finished')).toHaveLength(3);
  });
});
