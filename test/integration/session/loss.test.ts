import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';
import {change, eventsOf, podsOf} from './person.ts';

describe('a session that loses time, conversation, volume or pod', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'loss');
    const workspace = {size: '64Mi'};
    await place.agent('scribe', {workspace});
    await place.agent('hasty', {workspace, limits: {turn: '3s'}});
    await place.agent('forgetful', {workspace, args: ['--no-resume']});
    await place.session('timely', {agent: 'hasty', prompt: 'stall 600'});
    await place.session('deaf', {agent: 'scribe', prompt: 'deaf 600'});
    await place.session('memory', {agent: 'forgetful', prompt: 'say my colour is green', desired: 'Sleeping'});
    await place.session('volume', {agent: 'scribe', prompt: 'remember colour green', desired: 'Sleeping'});
    await place.session('mutated', {agent: 'scribe', prompt: 'remember colour green'});
  });
  afterAll(async () => {
    await place.remove();
  });

  const failed = async (name: string, reason: string) => {
    const session = await place.untilSession(name, (s) => s.status?.phase === 'Failed');
    expect(session.status).toMatchObject({stoppedReason: reason});
    expect(session.status?.conditions).toContainEqual(
      expect.objectContaining({type: 'Failed', reason, message: expect.stringMatching(/spec.restart/i)}),
    );
    await until(60_000, async () =>
      expect((await eventsOf(place, name)).map((e) => [e.type, e.reason])).toContainEqual(['Warning', reason]),
    );
  };

  it('a turn that runs too long is interrupted, and says so', async () => {
    const turn = await place.untilTurn('timely', 1);
    expect(turn.status).toMatchObject({
      phase: 'Interrupted',
      error: {code: 'turn_timeout', message: expect.stringContaining('limits.turn (3 s)')},
    });
    await place.turn('timely-2', 'timely', 'say in time');
    expect((await place.untilTurn('timely', 2)).status).toMatchObject({phase: 'Completed'});
  });

  it('an agent that does not hear the interrupt is killed and started again in the same pod', async () => {
    const running = await place.untilSession('deaf', (s) => s.status?.phase === 'Running');
    await change(place, 'turns', running.status?.activeTurn?.name ?? '', {stop: 'Interrupt'});
    expect((await place.untilTurn('deaf', 1)).status?.phase).toBe('Interrupted');
    await place.turn('deaf-2', 'deaf', 'say I hear you');
    expect((await place.untilTurn('deaf', 2)).status?.response).toContain('I hear you');
    const after = await place.get('deaf');
    expect(after.status).toMatchObject({attempt: 1, pod: {uid: running.status?.pod?.uid}});
  });

  it('an agent that cannot resume is told the transcript, and a condition says so', async () => {
    await place.untilTurn('memory', 1);
    await place.untilSession('memory', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
    await change(place, 'sessions', 'memory', {desired: 'Active'});
    await place.turn('memory-2', 'memory', 'what did you say?');
    const turn = await place.untilTurn('memory', 2);
    expect(turn.status?.response).toMatch(/Your memory of this conversation was lost.*my colour is green/s);
    const session = await place.get('memory');
    expect(session.status?.runner).toMatchObject({conversation: 'Rebuilt'});
    expect(session.status?.conditions).toContainEqual(
      expect.objectContaining({type: 'ConversationRebuilt', status: 'True'}),
    );
  });

  it('a lost volume is never replaced silently; restart goes on with an empty one', async () => {
    await place.untilTurn('volume', 1);
    const asleep = await place.untilSession(
      'volume',
      (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined,
    );
    await place.kubectl(['delete', 'pvc', asleep.status?.volume?.name ?? '', '--wait=true', '--timeout=60s']);
    await failed('volume', 'WorkspaceLost');
    await change(place, 'sessions', 'volume', {restart: 1});
    // It is still to sleep: the new attempt comes with the next turn.
    await place.untilSession('volume', (s) => s.status?.phase === 'Sleeping');
    await place.turn('volume-2', 'volume', 'recall colour');
    const turn = await place.untilTurn('volume', 2);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('remember nothing')});
    expect((await place.get('volume')).status).toMatchObject({attempt: 2, restart: 1});
  });

  it('a pod that somebody changes is given up, and restart goes on with the conversation', async () => {
    await place.untilTurn('mutated', 1);
    const [pod] = await podsOf(place, 'mutated');
    await place.kubectl(['set', 'image', `pod/${pod}`, `agent=${place.release.images.busybox}`]);
    await failed('mutated', 'PodMutated');
    await until(60_000, async () => expect(await podsOf(place, 'mutated')).toEqual([]));
    await change(place, 'sessions', 'mutated', {restart: 1});
    await place.untilSession('mutated', (s) => s.status?.phase === 'Idle');
    await place.turn('mutated-2', 'mutated', 'recall colour');
    expect((await place.untilTurn('mutated', 2)).status?.response).toContain('green');
  });
});
