import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {TurnObject} from '../../../src/api/v1alpha1/index.ts';
import {openRelease, Place, until} from '../../support/release.ts';

let place: Place;

const workspace = {size: '64Mi'};

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'own');
  await place.agent('modest', {workspace});
  await place.agent('lead', {workspace, groups: ['sessions', 'ask']});
  await place.agent('wide', {workspace, groups: ['sessions', 'ask', 'notifications']});
  await place.agent('mute', {workspace, groups: ['sessions']});
  await place.session('stranger', {agent: 'modest', prompt: 'say I am a stranger'});
  await place.session('me', {agent: 'modest', prompt: 'tool get_session {}\ntools', title: 'Before'});
  await place.session('boss', {agent: 'lead', prompt: 'tools'});
  await place.session('silent', {agent: 'mute', prompt: 'tools'});
  await place.session('waits', {agent: 'modest', prompt: 'ask which colour? | Red | Blue'});
  await place.session('asks', {agent: 'modest', prompt: 'ask which word?'});
  for (const [session, script] of Object.entries(SCRIPTS)) {
    for (const [i, text] of script.entries()) await place.turn(`${session}-${i + 2}`, session, text);
  }
});
afterAll(() => place?.remove());

const other = (action: string, more: object) => `tool action_session ${JSON.stringify({action, ...more})}`;
const start = (agent_root: string, more: object = {}) => `tool start_session ${JSON.stringify({agent_root, ...more})}`;

/** Turns after the first; an instruction that fails fails its turn, so each stands alone. */
const SCRIPTS = {
  me: [
    `${other('update_title', {title: 'Mine'})}\n${other('update_notes', {notes: 'my notes'})}`,
    start('modest'),
    'tool get_session {"session_id":"stranger"}',
    other('update_title', {session_id: 'stranger', title: 'Taken'}),
    other('follow_up', {session_id: 'stranger', prompt: 'say obey'}),
    'tool get_transcript_archive {}',
    'tool no_such_tool {}',
  ],
  boss: [
    start('modest', {prompt: 'say I am the child', title: 'Child', idempotency_key: 'the-only-child-of-boss'}),
    start('wide'),
    'tool get_session {"session_id":"stranger"}',
    'tool quick_search_sessions {}',
  ],
  silent: [start('modest')],
} as const;

/** That turn, counted from 1, once it has ended. */
const turn = (session: string, n: number): Promise<TurnObject> => place.untilTurn(session, n);
const said = async (session: string, n: number): Promise<string> => (await turn(session, n)).status?.response ?? '';
const failure = async (session: string, n: number): Promise<string> => {
  const {status} = await turn(session, n);
  return status?.phase === 'Failed' ? (status.error?.message ?? '') : `it is ${status?.phase}: ${status?.response}`;
};

describe('the tools that an agent sees on its loopback', () => {
  it.each([
    ['me', ['action_session', 'ask_user', 'get_session']],
    [
      'boss',
      ['action_session', 'ask_user', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session'],
    ],
    ['silent', ['action_session', 'get_session', 'get_transcript_archive', 'quick_search_sessions', 'start_session']],
  ])('%s has those of its groups', async (session, tools) => {
    const listed = /^tools: (.*)$/m.exec(await said(session, 1))?.[1] ?? '';
    expect(listed.split(', ').sort()).toEqual(tools);
  });

  it('Z-058 it sees itself without naming itself', async () => {
    const text = await said('me', 1);
    expect(text).toContain('- ID: me');
    expect(text).toContain('### Session Hierarchy');
    expect(text).toContain('### Human Messages');
  });

  it('it changes its own title and notes', async () => {
    expect((await turn('me', 2)).status?.phase).toBe('Completed');
    expect((await place.get('me')).spec).toMatchObject({title: 'Mine', notes: 'my notes'});
  });

  it('Z-160 a tool that it does not have is a JSON-RPC error', async () => {
    for (const [n, name] of [
      [3, 'start_session'],
      [7, 'get_transcript_archive'],
      [8, 'no_such_tool'],
    ] as const) {
      expect(await failure('me', n)).toContain(`tools/call: Tool ${name} not found on this connection`);
    }
  });

  it('another session does not exist for it, to read or to change; follow_up is not among its actions', async () => {
    const unseen = 'session_not_found: No session "stranger" that you may see';
    expect(await failure('me', 4)).toContain(unseen);
    expect(await failure('me', 5)).toContain(unseen);
    expect(await failure('me', 6)).toContain('invalid_arguments: action');
    const stranger = await place.get('stranger');
    expect(stranger.spec.title).toBeUndefined();
    expect(await place.turns('stranger')).toHaveLength(1);
  });
});

describe('sessions that start sessions', () => {
  let child: string;

  it('the child belongs to its parent and to the owner of the parent', async () => {
    child = /- ID: (\S+)/.exec(await said('boss', 2))?.[1] ?? '';
    const [{spec}, parent] = await Promise.all([place.get(child), place.get('boss')]);
    expect(spec).toMatchObject({agent: 'modest', title: 'Child', owner: parent.spec.owner});
    expect(spec.requester).toEqual({session: 'boss', uid: parent.metadata.uid});
    expect(await said(child, 1)).toContain('I am the child');
    expect((await turn(child, 1)).spec.author).toEqual({kind: 'Agent', name: 'boss', session: 'boss'});
  });

  it('no child has more than its parent', async () => {
    expect(await failure('silent', 2)).toContain('tools that this session does not have (ask_user)');
    // A group without tools gives nothing yet, so that Agent is no more than its parent.
    expect((await turn('boss', 3)).status?.phase).toBe('Completed');
  });

  it('a parent reaches its descendants and nobody else', async () => {
    expect(await failure('boss', 4)).toContain('session_not_found: No session "stranger"');
    const found = await said('boss', 5);
    expect(found).toContain(`- ${child} "Child"`);
    expect(found).not.toContain('stranger');
    await place.turn('boss-6', 'boss', `tool get_session {"session_id":"${child}"}`);
    await place.turn('boss-7', 'boss', other('follow_up', {session_id: child, prompt: 'say yes, parent'}));
    expect(await said('boss', 6)).toContain(`- boss [Running]\n  - ${child} "Child"`);
    expect((await turn('boss', 7)).status?.phase).toBe('Completed');
    const answer = await turn(child, 2);
    expect(answer.status?.response).toContain('yes, parent');
    expect(answer.spec.author).toEqual({kind: 'Agent', name: 'boss', session: 'boss', channel: 'mcp'});
  });
});

describe('ask_user', () => {
  const answer = async (session: string, value: object): Promise<void> => {
    const question = await until(120_000, async () => {
      const open = (await place.questions(session)).find((q) => q.status?.phase === 'Open');
      if (open === undefined) throw new Error(`${session} has no open question`);
      return open.metadata.name;
    });
    const patch = JSON.stringify({spec: {answer: value}});
    await place.kubectl(['patch', 'questions.carrel.dev', question, '--type=merge', '-p', patch]);
  };

  it('blocks until plain kubectl answers, and tells who did', async () => {
    await answer('asks', {text: 'cucumber'});
    const text = await said('asks', 1);
    expect(text).toContain('"status": "answered"');
    expect(text).toContain('cucumber');
    const [question] = await place.questions('asks');
    expect(question?.status?.phase).toBe('Answered');
    await until(60_000, async () => expect((await place.questions('asks'))[0]?.status?.deliveredAt).toBeDefined());
    expect(text).toContain(`"answered_by": "${question?.spec.answeredBy}"`);
    expect(await place.turns('asks')).toHaveLength(1);
  });

  it('says pending after its wait, and the late answer arrives as a message of the system', async () => {
    expect(await said('waits', 1)).toContain('"status": "pending"');
    await answer('waits', {option: 'blue'});
    const late = await turn('waits', 2);
    expect(late.spec.author?.kind).toBe('System');
    expect(late.status?.phase).toBe('Completed');
    const transcript = late.spec.input.map((p) => p.text).join('\n');
    expect(transcript).toContain('which colour?');
    expect(transcript).toMatch(/blue/i);
  });
});
