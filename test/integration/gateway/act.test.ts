import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';
import {type Client, clientOf, type Door, EVERYTHING, makeAccount, openDoors} from './door.ts';

let place: Place;
let doors: [Door, Door];
let door: Door;
let caller: Client;

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'acts');
  doors = await openDoors(place.release);
  [door] = doors;
  await makeAccount(place, 'caller', EVERYTHING);
  const workspace = {size: '64Mi'};
  await place.agent('scribe', {workspace});
  const command = ['/usr/local/bin/node', '/app/scripted-agent.js', '--exit', '3'];
  await place.agent('broken', {workspace, command, limits: {start: '30s'}});
  await place.session('busy', {agent: 'scribe', prompt: 'stall 600'});
  await place.session('quiet', {agent: 'scribe', prompt: 'say hello from the pod', title: 'The quiet one'});
  await place.session('asks', {agent: 'scribe', prompt: 'ask which colour?'});
  await place.session('fails', {agent: 'broken', prompt: 'say never'});
  caller = await clientOf(place, 'caller');
});
afterAll(() => place?.remove());

const goalOf = async (session: string) => (await place.get(session)).spec.goal;
const follow = (session: string, prompt: string, more: object = {}) =>
  caller.act(door, 'follow_up', session, {prompt, ...more});
/** Waits until a turn is with the agent that is none of these. */
const runningOtherThan = async (session: string, earlier: readonly string[]): Promise<string> => {
  const seen = await place.untilSession(
    session,
    ({status}) => status?.phase === 'Running' && !earlier.includes(status.activeTurn?.name ?? ''),
  );
  return seen.status?.activeTurn?.name ?? '';
};

describe('Z-099 Z-100 Z-101 follow_up', () => {
  it('queues while a turn runs, delivers next when it is forced, and the goal holds on both paths', async () => {
    const first = await runningOtherThan('busy', ['']);
    expect(await follow('busy', 'say queued one', {goal: 'reach A'})).toContain('## follow_up: queued');
    expect(await goalOf('busy')).toBe('reach A');
    expect(await follow('busy', 'say queued two', {goal: '  '})).toContain('## follow_up: queued');
    expect(await follow('busy', 'say queued three')).toContain('## follow_up: queued');
    expect(await goalOf('busy')).toBe('reach A');
    const forced = await follow('busy', 'stall 600', {force_immediate: true, goal: 'reach B'});
    expect(forced).toContain('## follow_up: interrupting');
    const second = await runningOtherThan('busy', [first]);
    expect(forced).toContain(`- Turn: ${second}`);
    expect(await goalOf('busy')).toBe('reach B');
    expect(await follow('busy', 'stall 600', {force_immediate: true, goal: ''})).toContain('interrupting');
    await runningOtherThan('busy', [first, second]);
    expect(await follow('busy', 'say forced last', {force_immediate: true})).toContain('interrupting');
    expect(await goalOf('busy')).toBe('reach B');
    const ends = await until(120_000, async () => {
      const turns = await place.turns('busy');
      expect(turns.filter((t) => t.status?.finishedAt === undefined)).toEqual([]);
      return turns.map((t) => t.status?.phase);
    });
    expect(ends.filter((p) => p === 'Interrupted')).toHaveLength(3);
    expect(ends.filter((p) => p === 'Completed')).toHaveLength(4);
    const transcript = await caller.call(door, 'get_transcript_archive', {session_id: 'busy'});
    expect(transcript.indexOf('forced last')).toBeGreaterThan(0);
    expect(transcript.lastIndexOf('forced last')).toBeLessThan(transcript.lastIndexOf('queued one'));
    expect(transcript.lastIndexOf('queued one')).toBeLessThan(transcript.lastIndexOf('queued three'));
  });

  it('delivers at once to an idle session; blank and absent goals leave what is there', async () => {
    await place.untilTurn('quiet', 1);
    await place.untilSession('quiet', (s) => s.status?.phase === 'Idle');
    expect(await follow('quiet', 'say two', {goal: 'be done'})).toContain('## follow_up: delivered');
    expect((await place.untilTurn('quiet', 2)).status?.response).toContain('two');
    for (const more of [{goal: ''}, {}]) await follow('quiet', 'say three', more);
    await place.untilTurn('quiet', 4);
    expect(await goalOf('quiet')).toBe('be done');
  });

  it('delivers at once to a session that waits for input: its turn ends, its question stays and may be answered late', async () => {
    await place.untilSession('asks', (s) => s.status?.phase === 'NeedsInput');
    await until(60_000, async () =>
      expect(await caller.call(door, 'get_session', {session_id: 'asks'})).toContain('- Phase: NeedsInput'),
    );
    expect(await follow('asks', 'say never mind', {goal: 'move on'})).toContain('## follow_up: delivered');
    expect((await place.untilTurn('asks', 2)).status?.response).toContain('never mind');
    expect((await place.untilTurn('asks', 1)).status?.phase).toBe('Interrupted');
    expect((await place.questions('asks')).map((q) => q.status?.phase)).toEqual(['Open']);
    expect(await goalOf('asks')).toBe('move on');
  });

  it('is refused by a failed session, forced or not, and says the way out', async () => {
    await place.untilSession('fails', (s) => s.status?.phase === 'Failed');
    for (const more of [{}, {force_immediate: true, goal: 'x'}]) {
      await until(60_000, async () => {
        const said = await follow('fails', 'say x', more);
        expect(said).toContain(
          'error: session_closed: Session "fails" failed and takes no messages; raise spec.restart',
        );
      });
    }
    expect(await goalOf('fails')).toBeUndefined();
  });

  it('Z-102 a goal that is too long is refused and nothing is sent', async () => {
    const before = (await place.turns('quiet')).length;
    expect(await follow('quiet', 'say x', {goal: 'g'.repeat(2_049)})).toContain('error: invalid_arguments: goal');
    expect(await place.turns('quiet')).toHaveLength(before);
  });

  it('a message with a key is delivered once, whichever replica takes the repeat', async () => {
    const args = {prompt: 'say only once', idempotency_key: 'a-key-of-this-test'};
    const before = (await place.turns('quiet')).length;
    const replies = await Promise.all(
      [0, 1, 2, 3].map((i) => caller.act(doors[i % 2 === 0 ? 0 : 1], 'follow_up', 'quiet', args)),
    );
    expect(replies.filter((r) => r.startsWith('## Existing Turn Returned'))).toHaveLength(3);
    expect(await place.turns('quiet')).toHaveLength(before + 1);
    const other = await caller.act(door, 'follow_up', 'quiet', {...args, prompt: 'say else'});
    expect(other).toContain('error: idempotency_conflict');
  });
});

describe('what people read', () => {
  it('title and notes are changed, and removed by a blank', async () => {
    expect(await caller.act(door, 'update_title', 'quiet', {title: 'New title'})).toContain('## update_title: updated');
    await caller.act(door, 'update_notes', 'quiet', {notes: 'seen by hand'});
    expect((await place.get('quiet')).spec).toMatchObject({title: 'New title', notes: 'seen by hand'});
    await until(30_000, async () => {
      const found = await caller.call(doors[1], 'quick_search_sessions', {query: 'new TITLE hand'});
      expect(found).toContain('- quiet "New title"');
    });
    await caller.act(door, 'update_notes', 'quiet', {notes: ' '});
    expect((await place.get('quiet')).spec.notes).toBeUndefined();
  });

  it.each(['busy', 'quiet', 'asks', 'fails'])('Z-058 get_session of %s has both sections', async (name) => {
    const text = await caller.call(door, 'get_session', {session_id: name});
    expect(text).toContain(`### Session Hierarchy\n\n- ${name}`);
    expect(text).toContain('### Human Messages\n\n');
  });

  it('get_session tells turns, questions and why it failed when asked', async () => {
    const args = {session_id: 'asks', include_turns: true, include_questions: true};
    const text = await caller.call(door, 'get_session', args);
    expect(text).toMatch(/### Turns\n\n- 1 \S+ \[Interrupted\]/);
    expect(text).toMatch(/### Questions\n\n- \S+ \[Open\] Ask: which colour\?/);
    expect(await caller.call(door, 'get_session', {session_id: 'fails'})).toMatch(/- Stopped because: \w+/);
  });
});

describe('archive', () => {
  it('puts the session away: no pod, no messages, and the transcript stays readable', async () => {
    expect(await caller.act(door, 'archive', 'quiet')).toContain('## archive: archiving');
    await place.untilSession('quiet', (s) => s.status?.phase === 'Archived' && s.status.pod === undefined);
    for (const more of [{}, {force_immediate: true}]) {
      expect(await follow('quiet', 'say x', more)).toContain('error: session_closed: Session "quiet" is archived');
    }
    await until(30_000, async () =>
      expect(await caller.act(doors[1], 'archive', 'quiet')).toContain('was archived already'),
    );
    const transcript = await caller.call(doors[1], 'get_transcript_archive', {session_id: 'quiet'});
    expect(transcript).toContain('hello from the pod');
    expect(transcript).toContain('End of the transcript.');
  });

  it('comes back with plain kubectl, and a message reaches it again', async () => {
    await place.kubectl([
      'patch',
      'sessions.carrel.dev',
      'quiet',
      '--type=merge',
      '-p',
      '{"spec":{"desired":"Active"}}',
    ]);
    await until(60_000, async () => expect(await follow('quiet', 'say back again')).toContain('## follow_up:'));
    await until(120_000, async () =>
      expect((await place.turns('quiet')).at(-1)?.status?.response).toContain('back again'),
    );
  });
});
