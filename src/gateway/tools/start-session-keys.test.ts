import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, startWithWriter} from '../../../test/support/gateway-fixture.ts';
import {Sessions} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startWithWriter();
});
afterEach(() => fixture.close());

const byKey = {'X-API-Key': KEY};

describe('start_session', () => {
  const args = {agent_root: 'writer', title: 'T', prompt: 'hello', idempotency_key: '7c9e6679-7425-40de'};

  test('Z-076 Z-080 Z-081 Z-084 a repeat returns the first session, whatever the arguments', async () => {
    const replies = await Promise.all(Array.from({length: 10}, () => fixture.call('start_session', args)));
    expect(fixture.api.list(Sessions)).toHaveLength(1);
    expect(replies.filter((r) => r.includes('## Session Started'))).toHaveLength(1);
    const again = await fixture.call('start_session', {...args, prompt: 'other'});
    expect(again).toContain('Existing Session Returned (idempotency_key matched)');
    expect(fixture.api.list(Sessions)[0]?.spec).toMatchObject({
      prompt: 'hello',
      owner: 'system:serviceaccount:team-a:bot',
    });
  });

  test('Z-082 a replay says whether a job is queued', async () => {
    await fixture.call('start_session', args);
    expect(await fixture.call('start_session', args)).toContain('Agent job: not queued');
    const [made] = fixture.api.list(Sessions);
    if (made === undefined) throw new Error('no session');
    fixture.api.put(Sessions, {...made, status: {phase: 'Starting', initialTurn: {name: 't', uid: 'u'}}});
    expect(await fixture.call('start_session', args)).toContain('Agent job: queued');
  });

  test('Z-085 a create whose reply was lost is found by its key', async () => {
    const judge = fixture.api.fault;
    fixture.api.fault = (r) => (r.method === 'POST' && r.path.endsWith('/sessions') ? 'lose' : judge(r));
    expect(await fixture.call('start_session', args)).toContain('idempotency_key matched');
    expect(fixture.api.list(Sessions)).toHaveLength(1);
  });

  test('Z-084 a repeat returns the first session also when its arguments are no good any more', async () => {
    await fixture.call('start_session', args);
    await fixture.settle();
    expect(await fixture.call('start_session', {...args, agent_root: 'gone', model: 'none'})).toContain(
      'idempotency_key matched',
    );
  });

  test('Z-088 MCP and REST share keys', async () => {
    await fixture.call('start_session', args);
    const reply = await fixture.post('/api/v1/sessions', args, byKey);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({replayed: true});
  });

  test('Z-086 without a key two calls are two sessions', async () => {
    await fixture.call('start_session', {agent_root: 'writer'});
    await fixture.call('start_session', {agent_root: 'writer'});
    expect(fixture.api.list(Sessions)).toHaveLength(2);
  });

  test('a name that something else has is a conflict, not a replay', async () => {
    await fixture.call('start_session', args);
    const [made] = fixture.api.list(Sessions);
    if (made === undefined) throw new Error('no session');
    fixture.api.put(Sessions, {...made, metadata: {...made.metadata, annotations: {}}});
    expect(await fixture.call('start_session', args)).toContain('idempotency_conflict');
  });

  test('an unknown Agent, a model that is not allowed and a prompt of too many bytes are refused', async () => {
    const long = {agent_root: 'writer', prompt: 'ä'.repeat(40_000)};
    expect(await fixture.call('start_session', long)).toContain('input_too_large: The text has 80000 bytes');
    expect(await fixture.call('start_session', {agent_root: 'nobody'})).toContain('agent_not_found');
    expect(await fixture.call('start_session', {agent_root: 'writer', model: 'm'})).toContain(
      'invalid_arguments: model "m" is not allowed',
    );
    expect(fixture.api.list(Sessions)).toHaveLength(0);
  });
});
