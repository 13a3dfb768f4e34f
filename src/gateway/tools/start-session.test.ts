import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, jwt, KEY, rpc, startGatewayFixture} from '../../../test/support/gateway-fixture.ts';
import {Sessions} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startGatewayFixture();
  for (const [name, groups] of [
    ['writer', ['self_session']],
    ['lead', ['sessions']],
    ['asker', ['ask']],
  ] as const)
    fixture.addAgent(name, [...groups]);
  await fixture.settle();
});
afterEach(() => fixture.close());

const byKey = {'X-API-Key': KEY};
const call = async (name: string, args: object, headers: Record<string, string> = byKey): Promise<string> =>
  (await fixture.post('/mcp', rpc('tools/call', {name, arguments: args}), headers)).text();

describe('Z-079 an Agent that does not exist', () => {
  const absent = 'agent_not_found: Agent \\"nobody\\" does not exist in namespace \\"team-a\\"';

  test('is refused with the names of those that do, to who may list them', async () => {
    fixture.rights.add('list agents');
    expect(await call('start_session', {agent_root: 'nobody'})).toContain(
      `${absent}; choose one of: asker, lead, writer.`,
    );
    expect(fixture.api.list(Sessions)).toHaveLength(0);
  });

  test('is refused without a name to who may not list them', async () => {
    const said = await call('start_session', {agent_root: 'nobody'});
    expect(said).toContain(`${absent}; which ones there are is told to those who may list agents`);
    expect(said).not.toMatch(/asker|lead|writer/);
  });

  test('is refused to a session with the names that it could start, and no others', async () => {
    const {token} = fixture.addRunning('one', 'lead');
    await fixture.settle();
    const said = await call('start_session', {agent_root: 'nobody'}, {authorization: `Bearer ${token}`});
    expect(said).toContain(`${absent}; choose one of: lead, writer.`);
  });

  test('many names are cut, and counted', async () => {
    fixture.rights.add('list agents');
    for (let i = 0; i < 30; i++) fixture.addAgent(`a-${String(i).padStart(2, '0')}`, []);
    await fixture.settle();
    const said = await call('start_session', {agent_root: 'nobody'});
    expect(said).toContain('choose one of: a-00, a-01,');
    expect(said).toContain('a-19 and 13 more.');
  });
});

describe('whose a new session is', () => {
  const made = (said: string) => {
    const name = /- ID: ([a-z0-9-]+)/.exec(said)?.[1] ?? said;
    const {spec, metadata} = fixture.api.get(Sessions, {namespace: 'team-a', name}) ?? {};
    return [spec?.owner, spec?.requester?.session, metadata?.annotations?.['carrel.dev/started-by']];
  };
  const jane = {authorization: `Bearer ${jwt({aud: ['carrel'], user: 'jane'})}`};

  test.each([
    ['a person', jane, 'jane'],
    ['a key', byKey, 'system:serviceaccount:team-a:bot'],
  ])(
    '%s who names the session of somebody else as parent stays the owner, and speaks for themselves',
    async (...row) => {
      const [_who, headers, owner] = row;
      fixture.addRunning('of-bob', 'lead', {spec: {owner: 'bob'}});
      await fixture.settle();
      const args = {agent_root: 'writer', prompt: 'x', parent_session_id: 'of-bob'};
      const reply = await fixture.post(
        '/mcp/team-a',
        rpc('tools/call', {name: 'start_session', arguments: args}),
        headers,
      );
      expect(made(await reply.text())).toEqual([owner, 'of-bob', undefined]);
    },
  );

  test('a session starts in the name of its own owner, and is known as the one that did', async () => {
    const {token} = fixture.addRunning('of-bob', 'lead', {spec: {owner: 'bob'}});
    await fixture.settle();
    const said = await call('start_session', {agent_root: 'writer'}, {authorization: `Bearer ${token}`});
    expect(made(said)).toEqual(['bob', 'of-bob', 'of-bob']);
  });

  test('a session that names one of its descendants as parent still acts for its own owner; a child of somebody else is none', async () => {
    const {session, token} = fixture.addRunning('of-bob', 'lead', {spec: {owner: 'bob'}});
    const requester = {session: 'of-bob', uid: session.metadata.uid};
    fixture.addSession('child', {owner: 'bob', requester});
    fixture.addSession('of-jane', {owner: 'jane', requester});
    await fixture.settle();
    const below = (parent_session_id: string) =>
      call('start_session', {agent_root: 'writer', parent_session_id}, {authorization: `Bearer ${token}`});
    expect(made(await below('child'))).toEqual(['bob', 'child', 'of-bob']);
    expect(await below('of-jane')).toContain('session_not_found');
    const seen = await call('quick_search_sessions', {}, {authorization: `Bearer ${token}`});
    expect(seen).not.toContain('of-jane');
  });
});

describe('arguments that this version does not take are refused by name, never ignored', () => {
  test.each(['mcp_servers', 'skills', 'plugins', 'hooks'])(
    'Z-077 Z-078 %s of start_session, empty or not',
    async (name) => {
      for (const value of [[], ['one'], null]) {
        const said = await call('start_session', {agent_root: 'writer', [name]: value});
        expect(said).toContain(`unsupported_argument: ${name}: in this version`);
        expect(said).toContain('leave it out');
      }
      const rest = await fixture.post('/api/v1/sessions', {agent_root: 'writer', [name]: []}, byKey);
      expect([rest.status, await rest.json()]).toEqual([400, expect.objectContaining({code: 'unsupported_argument'})]);
      expect(fixture.api.list(Sessions)).toHaveLength(0);
    },
  );

  test('all of them are named at once', async () => {
    const said = await call('start_session', {agent_root: 'writer', skills: [], hooks: []});
    expect(said).toMatch(/unsupported_argument: skills: .*hooks: /);
  });

  test('acting_session_id of action_session: the actor is known from the credential', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    for (const action of ['follow_up', 'archive']) {
      const args = {action, session_id: 'one', prompt: 'x', acting_session_id: 'two'};
      expect(await call('action_session', args)).toContain(
        'unsupported_argument: acting_session_id: who acts is known',
      );
    }
    expect(fixture.api.get(Sessions, {namespace: 'team-a', name: 'one'})?.spec.desired).toBe('Active');
  });

  test('anything else that is unknown is no argument at all', async () => {
    expect(await call('start_session', {agent_root: 'writer', priority: 1})).toContain('invalid_arguments: arguments');
  });
});
