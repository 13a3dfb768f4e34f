import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, startWithWriter} from '../../../test/support/gateway-fixture.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startWithWriter();
});
afterEach(() => fixture.close());

const byKey = {'X-API-Key': KEY};

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
    expect(await fixture.call('get_transcript_archive', {session_id: 'one', limit: 2})).toContain(
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
