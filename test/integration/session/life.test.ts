import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';

describe('the life of a session, with plain kubectl', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'life');
    await place.agent('scribe', {workspace: {size: '64Mi', image: place.release.images.workspace}});
  });
  afterAll(async () => {
    await place.remove();
  });

  it('answers the first prompt from its seeded workspace', async () => {
    await place.session('one', {agent: 'scribe', prompt: 'read LICENSE\nremember colour green'});
    const turn = await place.untilTurn('one', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', stopReason: 'EndTurn'});
    expect(turn.status?.response).toContain('Apache License');
    expect((await place.get('one')).status).toMatchObject({turns: 1});
  });

  it('remembers in the second turn what the first one said', async () => {
    await place.turn('second', 'one', 'recall colour');
    const turn = await place.untilTurn('one', 2);
    expect(turn.status?.response).toContain('green');
  });

  it('sleeps without a pod, and a turn wakes it with conversation and workspace kept', async () => {
    await place.kubectl([
      'patch',
      'sessions.carrel.dev',
      'one',
      '--type=merge',
      '-p',
      '{"spec":{"desired":"Sleeping"}}',
    ]);
    await place.untilSession('one', (s) => s.status?.phase === 'Sleeping');
    expect(await place.pods()).toEqual([]);
    await place.turn('third', 'one', 'recall colour');
    const turn = await place.untilTurn('one', 3);
    expect(turn.status?.response).toContain('green');
    const session = await place.get('one');
    expect(session.status?.attempt).toBe(2);
  });

  it('interrupts a running turn and no other', async () => {
    await place.session('two', {agent: 'scribe', prompt: 'stall 600'});
    await place.untilSession('two', (s) => s.status?.phase === 'Running' && s.status.runner?.state === 'Ready');
    await place.turn('waits', 'two', 'say still here');
    const [first] = await place.turns('two');
    await place.kubectl([
      'patch',
      'turns.carrel.dev',
      first?.metadata.name ?? '',
      '--type=merge',
      '-p',
      '{"spec":{"stop":"Interrupt"}}',
    ]);
    expect((await place.untilTurn('two', 1)).status?.phase).toMatch(/Interrupted|Cancelled/);
    const next = await place.untilTurn('two', 2);
    expect(next.status).toMatchObject({phase: 'Completed'});
    expect(next.status?.response).toContain('still here');
  });

  it('asks, and plain kubectl answers', async () => {
    await place.session('three', {agent: 'scribe', prompt: 'ask which colour?'});
    const question = await until(120_000, async () => {
      const open = (await place.questions('three')).find((q) => q.status?.phase === 'Open');
      if (open === undefined)
        throw new Error(`no open question; session ${JSON.stringify((await place.get('three')).status)}`);
      return open;
    });
    expect(question.spec).toMatchObject({kind: 'Ask', text: 'which colour?'});
    await place.kubectl([
      'patch',
      'questions.carrel.dev',
      question.metadata.name,
      '--type=merge',
      '-p',
      '{"spec":{"answer":{"text":"blue"}}}',
    ]);
    const turn = await place.untilTurn('three', 1);
    expect(turn.status?.response).toContain('blue');
  });

  it('closes, keeps why, and leaves nothing when it is deleted', async () => {
    await place.kubectl([
      'patch',
      'sessions.carrel.dev',
      'three',
      '--type=merge',
      '-p',
      '{"spec":{"desired":"Closed"}}',
    ]);
    const closed = await place.untilSession('three', (s) => s.status?.phase === 'Closed');
    expect(closed.status?.stoppedReason).toBe('Closed');
    await place.kubectl(['delete', 'sessions.carrel.dev', '--all', '--wait=true', '--timeout=120s']);
    await until(120_000, async () => {
      expect(await place.pods()).toEqual([]);
      expect((await place.kubectl(['get', 'pvc,turns.carrel.dev,questions.carrel.dev', '-o', 'name'])).trim()).toBe('');
    });
  });
});
