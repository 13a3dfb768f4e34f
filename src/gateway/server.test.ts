import {connect} from 'node:net';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, KEY, rpc, startGatewayFixture} from '../../test/support/gateway-fixture.ts';
import {Questions} from '../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startGatewayFixture({askWaitMs: 50_000});
});
afterEach(() => fixture.close());

describe('ports', () => {
  test('the canary accepts a connection and closes it', async () => {
    const ended = await new Promise<string>((resolve) => {
      const socket = connect(fixture.gateway.ports.canary, '127.0.0.1');
      const seen: string[] = [];
      socket.on('connect', () => seen.push('connected'));
      socket.on('end', () => seen.push('ended'));
      socket.on('close', () => resolve(seen.join(' ')));
      socket.resume();
    });
    expect(ended).toBe('connected ended');
  });

  test('health and readiness need no credential', async () => {
    const health = `http://127.0.0.1:${fixture.gateway.ports.health}`;
    expect((await fetch(`${health}/healthz`)).status).toBe(200);
    expect((await fetch(`${health}/readyz`)).status).toBe(200);
    expect((await fetch(`${health}/metrics`)).status).toBe(200);
  });
});

describe('stop', () => {
  test('a question that waits is answered with pending, and everything closes', async () => {
    fixture.addAgent('writer', ['ask']);
    const activeTurn = {name: 't1', uid: 'turn-uid', sequence: 1};
    const {token} = fixture.addRunning('one', 'writer', {status: {activeTurn}});
    await fixture.settle();
    const call = rpc('tools/call', {name: 'ask_user', arguments: {question: 'Which?'}});
    const waiting = fixture.post('/mcp', call, {authorization: `Bearer ${token}`});
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    await fixture.gateway.stop();
    expect(await (await waiting).text()).toContain('pending');
    await expect(fixture.post('/mcp', rpc('tools/list'), {'X-API-Key': KEY})).rejects.toThrow();
  });

  test('a caller who goes away ends the wait', async () => {
    fixture.addAgent('writer', ['ask']);
    const activeTurn = {name: 't1', uid: 'turn-uid', sequence: 1};
    const {token} = fixture.addRunning('one', 'writer', {status: {activeTurn}});
    await fixture.settle();
    const gone = new AbortController();
    const sent = fetch(`${fixture.url}/mcp`, {
      method: 'POST',
      headers: {'content-type': 'application/json', authorization: `Bearer ${token}`},
      body: JSON.stringify(rpc('tools/call', {name: 'ask_user', arguments: {question: 'Which?'}})),
      signal: gone.signal,
    });
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    gone.abort();
    await expect(sent).rejects.toThrow();
    const audited = () => fixture.lines.some((line) => JSON.stringify(line.fields).includes('"tool":"ask_user"'));
    await expect.poll(audited).toBe(true);
  });
});
