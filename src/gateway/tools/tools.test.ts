import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, jwt, KEY, rpc, startGatewayFixture} from '../../../test/support/gateway-fixture.ts';
import {systemClock} from '../../kube/clock.ts';
import {Questions, Sessions, Turns} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
const start = async (options: Parameters<typeof startGatewayFixture>[0]) => {
  fixture = await startGatewayFixture(options);
  fixture.addAgent('writer', ['self_session', 'ask']);
  await fixture.settle();
};
beforeEach(() => start({askWaitMs: 60_000}));
afterEach(() => fixture.close());

const byKey = {'X-API-Key': KEY};
const call = async (name: string, args: object, headers: Record<string, string> = byKey): Promise<string> => {
  const reply = await fixture.post('/mcp', rpc('tools/call', {name, arguments: args}), headers);
  const body: unknown = JSON.parse(await reply.text());
  return JSON.stringify(body).replaceAll('\\n', '\n').replaceAll('\\"', '"');
};

describe('get_session', () => {
  test('Z-058 Z-061 both sections are there for a session alone, explicitly empty', async () => {
    fixture.addSession('one', {title: 'Alone'}, {phase: 'Idle'});
    await fixture.settle();
    const text = await call('get_session', {session_id: 'one'});
    expect(text).toContain(
      '### Session Hierarchy\n\n- one "Alone" [Idle] (this session)\n\nNo parent and no children.',
    );
    expect(text).toContain('### Human Messages\n\nNone: no person has written');
  });

  test('Z-060 Z-062 human messages of the whole tree are marked here and elsewhere; messages make no edge', async () => {
    const parent = fixture.addSession('parent');
    const requester = {session: 'parent', uid: parent.metadata.uid};
    fixture.addSession('child', {requester});
    const turn = (name: string, session: string, kind: 'Human' | 'Agent', text: string) =>
      fixture.api.put(Turns, {
        metadata: {namespace: 'team-a', name},
        spec: {session, input: [{text}], delivery: 'Queue', author: {kind, name: 'jane', channel: 'kubectl'}},
      });
    turn('t1', 'parent', 'Human', 'make a plan');
    turn('t2', 'child', 'Human', 'be quick');
    turn('t3', 'child', 'Agent', 'machine words');
    await fixture.settle();
    const text = await call('get_session', {session_id: 'child'});
    expect(text).toContain('- parent [Pending]\n  - child [Pending] (this session)');
    expect(text).toMatch(/jane \(kubectl\) \[elsewhere: parent\]: make a plan/);
    expect(text).toMatch(/jane \(kubectl\) \[here\]: be quick/);
    expect(text).not.toContain('machine words');
  });

  test('Z-158 an unknown session is an error result with its name', async () => {
    expect(await call('get_session', {session_id: 'nobody'})).toMatch(/"isError":true/);
    expect(await call('get_session', {session_id: 'nobody'})).toContain('session_not_found: No session "nobody"');
  });
});

describe('start_session', () => {
  const args = {agent_root: 'writer', title: 'T', prompt: 'hello', idempotency_key: '7c9e6679-7425-40de'};

  test('Z-076 Z-080 Z-081 Z-084 a repeat returns the first session, whatever the arguments', async () => {
    const replies = await Promise.all(Array.from({length: 10}, () => call('start_session', args)));
    expect(fixture.api.list(Sessions)).toHaveLength(1);
    expect(replies.filter((r) => r.includes('## Session Started'))).toHaveLength(1);
    const again = await call('start_session', {...args, prompt: 'other'});
    expect(again).toContain('Existing Session Returned (idempotency_key matched)');
    expect(fixture.api.list(Sessions)[0]?.spec).toMatchObject({
      prompt: 'hello',
      owner: 'system:serviceaccount:team-a:bot',
    });
  });

  test('Z-082 a replay says whether a job is queued', async () => {
    await call('start_session', args);
    expect(await call('start_session', args)).toContain('Agent job: not queued');
    const [made] = fixture.api.list(Sessions);
    if (made === undefined) throw new Error('no session');
    fixture.api.put(Sessions, {...made, status: {phase: 'Starting', initialTurn: {name: 't', uid: 'u'}}});
    expect(await call('start_session', args)).toContain('Agent job: queued');
  });

  test('Z-085 a create whose reply was lost is found by its key', async () => {
    const judge = fixture.api.fault;
    fixture.api.fault = (r) => (r.method === 'POST' && r.path.endsWith('/sessions') ? 'lose' : judge(r));
    expect(await call('start_session', args)).toContain('idempotency_key matched');
    expect(fixture.api.list(Sessions)).toHaveLength(1);
  });

  test('Z-084 a repeat returns the first session also when its arguments are no good any more', async () => {
    await call('start_session', args);
    await fixture.settle();
    expect(await call('start_session', {...args, agent_root: 'gone', model: 'none'})).toContain(
      'idempotency_key matched',
    );
  });

  test('Z-088 MCP and REST share keys', async () => {
    await call('start_session', args);
    const reply = await fixture.post('/api/v1/sessions', args, byKey);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({replayed: true});
  });

  test('Z-086 without a key two calls are two sessions', async () => {
    await call('start_session', {agent_root: 'writer'});
    await call('start_session', {agent_root: 'writer'});
    expect(fixture.api.list(Sessions)).toHaveLength(2);
  });

  test('a name that something else has is a conflict, not a replay', async () => {
    await call('start_session', args);
    const [made] = fixture.api.list(Sessions);
    if (made === undefined) throw new Error('no session');
    fixture.api.put(Sessions, {...made, metadata: {...made.metadata, annotations: {}}});
    expect(await call('start_session', args)).toContain('idempotency_conflict');
  });

  test('an unknown Agent, a model that is not allowed and a prompt of too many bytes are refused', async () => {
    const long = {agent_root: 'writer', prompt: 'ä'.repeat(40_000)};
    expect(await call('start_session', long)).toContain('input_too_large: The text has 80000 bytes');
    expect(await call('start_session', {agent_root: 'nobody'})).toContain('agent_not_found');
    expect(await call('start_session', {agent_root: 'writer', model: 'm'})).toContain(
      'invalid_arguments: model "m" is not allowed',
    );
    expect(fixture.api.list(Sessions)).toHaveLength(0);
  });
});

describe('action_session', () => {
  const turns = () => fixture.api.list(Turns);

  test('Z-099 Z-101 a message becomes one Turn with its goal, by a machine author for a key', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    const said = await call('action_session', {action: 'follow_up', session_id: 'one', prompt: 'go on', goal: 'done'});
    expect(said).toContain('## follow_up: delivered');
    expect(turns()[0]?.spec).toMatchObject({
      session: 'one',
      input: [{text: 'go on'}],
      goal: 'done',
      delivery: 'Queue',
      author: {kind: 'Agent', name: 'system:serviceaccount:team-a:bot', channel: 'mcp'},
    });
    expect(turns()[0]?.metadata.ownerReferences?.[0]).toMatchObject({
      kind: 'Session',
      name: 'one',
      blockOwnerDeletion: false,
    });
  });

  test('Z-101 a goal becomes that of the session; a blank one leaves it; a refused message sets none', async () => {
    fixture.addSession('one', {goal: 'old'}, {phase: 'Running'});
    fixture.addSession('two', {}, {phase: 'Idle'});
    fixture.addSession('over', {goal: 'old'}, {phase: 'Failed'});
    await fixture.settle();
    const goalOf = (name: string) => fixture.api.get(Sessions, {namespace: 'team-a', name})?.spec.goal;
    const send = (session_id: string, goal: string) =>
      call('action_session', {action: 'follow_up', session_id, prompt: 'x', goal});
    await send('one', ' ');
    expect(goalOf('one')).toBe('old');
    await send('one', 'new');
    expect(goalOf('one')).toBe('new');
    expect(await send('over', 'new')).toContain('session_closed');
    expect(goalOf('over')).toBe('old');
    fixture.rights.delete('patch sessions');
    expect(await send('two', 'new')).toContain('may not patch sessions.carrel.dev');
    expect(await send('two', '')).toContain('delivered');
  });

  test('a person is a Human author', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    const headers = {
      authorization: `Bearer ${jwt({aud: ['carrel'], user: 'jane'})}`,
      'content-type': 'application/json',
    };
    const reply = await fixture.post('/api/v1/sessions/one/turns?namespace=team-a', {prompt: 'hi'}, headers);
    expect(reply.status).toBe(201);
    expect(turns()[0]?.spec.author).toEqual({kind: 'Human', name: 'jane', channel: 'api'});
  });

  test('Z-102 a goal that is too long is refused', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    const said = await call('action_session', {
      action: 'follow_up',
      session_id: 'one',
      prompt: 'x',
      goal: 'g'.repeat(2049),
    });
    expect(said).toContain('invalid_arguments: goal');
  });

  test('a message with a key is delivered once; another message with it is a conflict', async () => {
    fixture.addSession('one', {}, {phase: 'Running'});
    await fixture.settle();
    const args = {action: 'follow_up', session_id: 'one', prompt: 'x', idempotency_key: 'key-12345'};
    expect(await call('action_session', args)).toContain('queued');
    expect(await call('action_session', args)).toContain('Existing Turn Returned');
    expect(await call('action_session', {...args, prompt: 'y'})).toContain('idempotency_conflict');
    expect(turns()).toHaveLength(1);
  });

  test('Z-092 archive, notes and title change single fields', async () => {
    fixture.addSession('one', {notes: 'old'}, {phase: 'Idle'});
    await fixture.settle();
    await call('action_session', {action: 'update_title', session_id: 'one', title: 'New'});
    await call('action_session', {action: 'update_notes', session_id: 'one', notes: ' '});
    await call('action_session', {action: 'archive', session_id: 'one'});
    const spec = fixture.api.get(Sessions, {namespace: 'team-a', name: 'one'})?.spec;
    expect(spec).toMatchObject({title: 'New', desired: 'Archived', agent: 'writer'});
    expect(spec?.notes).toBeUndefined();
  });
});

describe('ask_user', () => {
  const ask = {question: 'Which colour?', options: [{id: 'r', label: 'Red'}]};
  const running = async () => {
    const {session, token} = fixture.addRunning('one', 'writer', {
      status: {activeTurn: {name: 't1', uid: 'turn-uid', sequence: 1}},
    });
    await fixture.settle();
    return {session, headers: {authorization: `Bearer ${token}`}};
  };

  test('waits, and gives the answer that came at another replica', async () => {
    await fixture.close();
    let later = 0;
    await start({askWaitMs: 60_000, clock: {...systemClock, now: () => Date.now() + later}});
    const {headers} = await running();
    const answered = call('ask_user', ask, headers);
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    const [question] = fixture.api.list(Questions);
    if (question === undefined) throw new Error('no question');
    const asked = Date.now();
    later = 3_600_000;
    fixture.api.put(Questions, {
      ...question,
      spec: {...question.spec, answer: {option: 'r'}, answeredBy: 'jane'},
      status: {phase: 'Answered'},
    });
    expect(await answered).toContain('"structuredContent":{"status":"answered"');
    expect(await answered).toContain('"option":"r","answered_by":"jane"');
    const deliveredAt = fixture.api.list(Questions)[0]?.status?.deliveredAt ?? '';
    expect(Date.parse(deliveredAt), 'when the answer was taken').toBeGreaterThanOrEqual(asked + later - 1_000);
  });

  test('a question that somebody deletes is withdrawn: no answer will arrive', async () => {
    const {headers} = await running();
    const answered = call('ask_user', ask, headers);
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    const [question] = fixture.api.list(Questions);
    fixture.api.drop(Questions, {namespace: question?.metadata.namespace, name: question?.metadata.name ?? ''});
    expect(await answered).toContain('"status":"withdrawn"');
  });

  test('answers pending after its wait, and the same question is the same object', async () => {
    await fixture.close();
    await start({askWaitMs: 1});
    const {headers} = await running();
    expect(await call('ask_user', ask, headers)).toContain('"status":"pending"');
    expect(await call('ask_user', ask, headers)).toContain('"status":"pending"');
    expect(fixture.api.list(Questions)).toHaveLength(1);
    await call('ask_user', {...ask, idempotency_key: 'again'}, headers);
    expect(fixture.api.list(Questions)).toHaveLength(2);
    expect(fixture.api.list(Questions)[0]?.spec).toMatchObject({session: 'one', turn: 't1', kind: 'Ask', to: 'Owner'});
  });

  test('without a running turn there is nobody to ask for', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    expect(await call('ask_user', ask, {authorization: `Bearer ${token}`})).toContain('no_active_turn');
  });
});

describe('get_transcript_archive and REST', () => {
  const record = (n: number) => ({
    n,
    hash: 'h',
    time: '2026-01-01T00:00:00Z',
    kind: 'message' as const,
    text: `line ${n}`,
  });

  test('pages as text, as JSON and as lines', async () => {
    const session = fixture.addSession('one');
    fixture.records.set(
      session.metadata.uid,
      Array.from({length: 1_200}, (_, i) => record(i + 1)),
    );
    await fixture.settle();
    expect(await call('get_transcript_archive', {session_id: 'one', limit: 2})).toContain(
      'More: call again with after: 2',
    );
    const page: unknown = await (
      await fetch(`${fixture.url}/api/v1/sessions/one/transcript?after=1198`, {headers: byKey})
    ).json();
    expect(page).toEqual({session: 'one', records: [record(1_199), record(1_200)]});
    const lines = await fetch(`${fixture.url}/api/v1/sessions/one/transcript`, {
      headers: {...byKey, accept: 'application/x-ndjson'},
    });
    expect((await lines.text()).trim().split('\n')).toHaveLength(1_200);
  });

  test('the transcript needs its own right', async () => {
    fixture.addSession('one');
    await fixture.settle();
    fixture.rights.delete('get sessions/transcript');
    const reply = await fetch(`${fixture.url}/api/v1/sessions/one/transcript`, {headers: byKey});
    expect(reply.status).toBe(403);
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
  });

  test.each([
    ['GET', '/sessions?phse=Failed', '"phse": this takes namespace, query, phase, agent, limit only'],
    ['GET', '/sessions?tool_groups=ask', '"tool_groups": this takes namespace, query, phase, agent, limit only'],
    ['GET', '/sessions/one?phase=x', '"phase": this takes namespace only'],
    ['GET', '/sessions/one/transcript?from=1&to=2', '"from", "to": this takes namespace, after, limit, turn only'],
    ['POST', '/sessions/one/turns?limit=1', '"limit": this takes namespace only'],
  ])('REST refuses a query parameter that it does not know: %s %s', async (method, path, says) => {
    const reply = await fetch(`${fixture.url}/api/v1${path}`, {method, headers: byKey});
    const detail = expect.stringContaining(says);
    expect([reply.status, await reply.json()]).toEqual([
      400,
      expect.objectContaining({code: 'unsupported_argument', detail}),
    ]);
  });

  test('REST lists, shows, and names what is not there', async () => {
    fixture.addSession('one', {title: 'First'});
    await fixture.settle();
    const list = await fetch(`${fixture.url}/api/v1/sessions?query=first`, {headers: byKey});
    expect(await list.json()).toMatchObject({total: 1});
    const one = await fetch(`${fixture.url}/api/v1/sessions/one`, {headers: byKey});
    expect(await one.json()).toMatchObject({session: {metadata: {name: 'one'}}, turns: [], messages: []});
    const absent = await fetch(`${fixture.url}/api/v1/sessions/absent`, {headers: byKey});
    expect([absent.status, await absent.json()]).toEqual([404, expect.objectContaining({code: 'session_not_found'})]);
    const method = await fetch(`${fixture.url}/api/v1/sessions/one`, {method: 'DELETE', headers: byKey});
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
