import {afterEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, rpc, startGatewayFixture} from '../../test/support/gateway-fixture.ts';
import {Questions} from '../kube/kinds.ts';

let fixture: GatewayFixture;
afterEach(() => fixture.close());

const asking = {status: {activeTurn: {name: 't1', uid: 'turn-uid', sequence: 1}}};
const start = async (options: {askWaitMs: number; maxInFlight?: number}) => {
  fixture = await startGatewayFixture(options);
  fixture.addAgent('writer', ['self_session', 'ask']);
  const tokens = ['one', 'two'].map((name) => fixture.addRunning(name, 'writer', asking).token);
  await fixture.settle();
  return tokens.map((token) => ({authorization: `Bearer ${token}`}));
};
const call = (name: string, args: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${fixture.url}/mcp`, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...headers},
    body: JSON.stringify(rpc('tools/call', {name, arguments: args})),
    ...(signal === undefined ? {} : {signal}),
  });

describe('one caller among others', () => {
  test('a session with its share in flight is told to wait; everybody else is served', async () => {
    const [one, two] = await start({askWaitMs: 60_000, maxInFlight: 160});
    const leave = new AbortController();
    const held = [1, 2, 3, 4].map((n) =>
      call('ask_user', {question: `Q${n}?`}, one, leave.signal).catch(() => undefined),
    );
    await expect.poll(() => fixture.api.list(Questions).length).toBe(4);
    const refused = await call('get_session', {}, one);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({
      error: {data: {code: 'too_many_requests'}, message: expect.stringContaining('session:team-a/one has 4 requests')},
    });
    expect((await call('get_session', {}, two)).status).toBe(200);
    expect((await call('get_session', {session_id: 'one'}, {'X-API-Key': KEY})).status).toBe(200);
    leave.abort();
    await Promise.all(held);
    await expect.poll(async () => (await call('get_session', {}, one)).status).toBe(200);
  });
});

describe('one turn that asks and asks', () => {
  test('is refused after fifty questions, however many are closed; an old one can still be waited for', async () => {
    const [one, two] = await start({askWaitMs: 1});
    for (let n = 0; n < 50; n++) await call('ask_user', {question: `Q${n}?`}, one);
    await fixture.settle();
    for (const question of fixture.api.list(Questions))
      fixture.api.put(Questions, {...question, status: {phase: 'Expired'}});
    await fixture.settle();
    expect(await (await call('ask_user', {question: 'One more?'}, one)).text()).toContain(
      'too_many_questions: Turn \\"t1\\" has asked 50 questions',
    );
    expect(fixture.api.list(Questions)).toHaveLength(50);
    expect(await (await call('ask_user', {question: 'Q7?'}, one)).text()).toContain('expired');
    expect(await (await call('ask_user', {question: 'One more?'}, two)).text()).toContain('pending');
  });
});
