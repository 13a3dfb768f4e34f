import {Client as ModernClient, StreamableHTTPClientTransport as ModernTransport} from '@modelcontextprotocol/client';
import {Client as V1Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport as V1Transport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {fakeClock} from '../../test/support/fake-clock.ts';
import {type GatewayFixture, rpc, startGatewayFixture} from '../../test/support/gateway-fixture.ts';
import {Questions} from '../kube/kinds.ts';
import {telling} from './progress.ts';

describe('telling of a call that lasts', () => {
  test('it is told at once, then each 10 s with a growing step, and never after the end', async () => {
    const clock = fakeClock();
    const told: [number, string][] = [];
    const work = Promise.withResolvers<string>();
    const result = telling(clock, (step, note) => told.push([step, note]))('waiting', work.promise);
    expect(told).toEqual([[1, 'waiting']]);
    await clock.advance(25_000);
    expect(told.map(([step]) => step)).toEqual([1, 2, 3]);
    work.resolve('done');
    expect(await result).toBe('done');
    await clock.advance(60_000);
    expect(told).toHaveLength(3);
    expect(clock.timers()).toBe(0);
  });

  test('a failure ends it too, and without a listener nothing is told', async () => {
    const clock = fakeClock();
    await expect(telling(clock, () => undefined)('x', Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await telling(clock, undefined)('x', Promise.resolve(7))).toBe(7);
    expect(clock.timers()).toBe(0);
  });
});

describe('a call that lasts, over HTTP', () => {
  const MODERN = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': {name: 't', version: '1'},
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const ERAS = [
    {era: '2025-11-25', meta: {}, headers: {'mcp-protocol-version': '2025-11-25'}},
    {
      era: '2026-07-28',
      meta: MODERN,
      headers: {'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask_user'},
    },
  ] as const;
  const both = 'application/json, text/event-stream';

  let fixture: GatewayFixture;
  let token: string;
  const start = async (askWaitMs: number) => {
    fixture = await startGatewayFixture({askWaitMs});
    fixture.addAgent('writer', ['ask']);
    token = fixture.addRunning('one', 'writer', {
      status: {activeTurn: {name: 't1', uid: 'turn-uid', sequence: 1}},
    }).token;
    await fixture.settle();
  };
  beforeEach(() => start(30_000));
  afterEach(() => fixture.close());

  const ask = ({meta, headers}: (typeof ERAS)[number], accept: string, progress: object, signal?: AbortSignal) =>
    fetch(`${fixture.url}/mcp`, {
      method: 'POST',
      headers: {...headers, accept, 'content-type': 'application/json', authorization: `Bearer ${token}`},
      body: JSON.stringify(
        rpc('tools/call', {name: 'ask_user', arguments: {question: 'Why?'}, _meta: {...meta, ...progress}}),
      ),
      ...(signal === undefined ? {} : {signal}),
    });
  const answer = async () => {
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    const [question] = fixture.api.list(Questions);
    if (question === undefined) throw new Error('no question');
    fixture.api.put(Questions, {
      ...question,
      spec: {...question.spec, answer: {text: 'so'}, answeredBy: 'jane'},
      status: {phase: 'Answered'},
    });
  };

  test.each(ERAS)('$era: is told of at once on a stream, and answered on it', async (era) => {
    const reply = await ask(era, both, {progressToken: 'p1'});
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(fixture.api.list(Questions)[0]?.status?.phase).toBeUndefined();
    await answer();
    const events = (await reply.text()).split('\n').filter((line) => line.startsWith('data: '));
    const messages: unknown[] = events.map((line) => JSON.parse(line.slice('data: '.length)));
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatchObject({
      method: 'notifications/progress',
      params: {progressToken: 'p1', progress: 1, message: expect.stringContaining('waits for its answer')},
    });
    expect(messages[1]).toMatchObject({id: 1, result: {structuredContent: {status: 'answered', text: 'so'}}});
  });

  test.each(ERAS)('$era: without a token, or where no stream is taken, one JSON body comes', async (era) => {
    for (const [accept, progress] of [
      [both, {}],
      ['application/json', {progressToken: 7}],
      ['*/*', {progressToken: 7}],
    ] as const) {
      await fixture.close();
      await start(1);
      const reply = await ask(era, accept, progress);
      expect(reply.headers.get('content-type')).toContain('application/json');
      expect(await reply.json()).toMatchObject({result: {structuredContent: {status: 'pending'}}});
    }
  });

  test.each(ERAS)('$era: closing the stream ends the wait', async (era) => {
    const leaving = new AbortController();
    const reply = await ask(era, both, {progressToken: 'p1'}, leaving.signal);
    expect(reply.status).toBe(200);
    leaving.abort();
    await expect.poll(() => fixture.lines.filter((line) => line.message === 'tool call')).toHaveLength(1);
    expect(fixture.api.list(Questions)).toHaveLength(1);
  });

  test('the stop of the process answers on the stream', async () => {
    const reply = await ask(ERAS[0], both, {progressToken: 'p1'});
    const stopped = fixture.gateway.stop();
    expect(await reply.text()).toContain('"status":"pending"');
    await stopped;
  });

  test('the official clients hear of it and get the answer', async () => {
    const requestInit = {headers: {authorization: `Bearer ${token}`}};
    const heard: string[] = [];
    const url = new URL(`${fixture.url}/mcp`);
    const modern = new ModernClient({name: 't', version: '1'}, {versionNegotiation: {mode: 'auto'}});
    await modern.connect(new ModernTransport(url, {requestInit}));
    const v1 = new V1Client({name: 't', version: '1'});
    await v1.connect(new V1Transport(url, {requestInit}));
    const asked = {name: 'ask_user', arguments: {question: 'Why?'}};
    const results = [
      modern.callTool(asked, {onprogress: () => heard.push('modern')}),
      v1.callTool(asked, undefined, {onprogress: () => heard.push('v1')}),
    ];
    await expect.poll(() => [...heard].sort()).toEqual(['modern', 'v1']);
    await answer();
    for (const result of await Promise.all(results))
      expect(result.structuredContent).toMatchObject({status: 'answered', text: 'so'});
    await modern.close();
    await v1.close();
  });
});
