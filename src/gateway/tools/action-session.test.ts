import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, jwt, startWithWriter} from '../../../test/support/gateway-fixture.ts';
import {Sessions, Turns} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startWithWriter();
});
afterEach(() => fixture.close());

describe('action_session', () => {
  const turns = () => fixture.api.list(Turns);

  test('Z-099 Z-101 a message becomes one Turn with its goal, by a machine author for a key', async () => {
    fixture.addSession('one', {}, {phase: 'Idle'});
    await fixture.settle();
    const said = await fixture.call('action_session', {
      action: 'follow_up',
      session_id: 'one',
      prompt: 'go on',
      goal: 'done',
    });
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
      fixture.call('action_session', {action: 'follow_up', session_id, prompt: 'x', goal});
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
    const said = await fixture.call('action_session', {
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
    expect(await fixture.call('action_session', args)).toContain('queued');
    expect(await fixture.call('action_session', args)).toContain('Existing Turn Returned');
    expect(await fixture.call('action_session', {...args, prompt: 'y'})).toContain('idempotency_conflict');
    expect(turns()).toHaveLength(1);
  });

  test('Z-092 archive, notes and title change single fields', async () => {
    fixture.addSession('one', {notes: 'old'}, {phase: 'Idle'});
    await fixture.settle();
    await fixture.call('action_session', {action: 'update_title', session_id: 'one', title: 'New'});
    await fixture.call('action_session', {action: 'update_notes', session_id: 'one', notes: ' '});
    await fixture.call('action_session', {action: 'archive', session_id: 'one'});
    const spec = fixture.api.get(Sessions, {namespace: 'team-a', name: 'one'})?.spec;
    expect(spec).toMatchObject({title: 'New', desired: 'Archived', agent: 'writer'});
    expect(spec?.notes).toBeUndefined();
  });
});
