import {once} from 'node:events';
import {createServer as createTlsServer, type TLSSocket} from 'node:tls';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {eventually} from '../../../test/support/eventually.ts';
import {ATTEMPT_KEY, REAL_KEY} from '../../../test/support/loopback.ts';
import {ALLOWED, BASE, ModelBench} from '../../../test/support/model-bench.ts';
import {makeCertificate} from '../../../test/support/model-stub/certificate.ts';
import {startModelStub} from '../../../test/support/model-stub/server.ts';
import {sendRaw} from '../../../test/support/raw-http.ts';

let bench: ModelBench;

beforeEach(async () => {
  bench = await ModelBench.start();
});
afterEach(() => bench.stop());

describe('a model call', () => {
  it('reaches the provider with the real key, through the relay with the purpose model', async () => {
    const reply = await bench.ask('stub say one two three');
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({content: [{text: 'one two three'}]});
    expect(bench.relay.seen).toEqual([{target: ALLOWED, authorization: 'Bearer token-of-egress', purpose: 'model'}]);
    expect(bench.stub.seen[0]).toMatchObject({
      url: '/v1/messages',
      headers: {'x-api-key': REAL_KEY, host: 'model.example'},
    });
    await eventually(() => expect(bench.loopback.modelUsage()).toEqual({inputTokens: 5, outputTokens: 3, requests: 1}));
    expect(bench.loopback.lastModelError()).toBeUndefined();
  });

  it('carries only headers of the allowlist, in both directions', async () => {
    const headers = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'tools-2024',
      'x-evil': '1',
      'x-forwarded-for': '1.2.3.4',
    };
    const reply = await bench.ask('stub say hello', {headers});
    expect(Object.keys(bench.stub.seen[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'anthropic-beta',
      'anthropic-version',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-api-key',
    ]);
    expect(reply.headers.get('request-id')).toBe('req_stub');
    expect(reply.headers.get('server')).toBeNull();
  });

  it('streams: the first event is here while the provider is still sending', async () => {
    const reply = await bench.ask('stub slow 1000 20', {stream: true});
    const reader = reply.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('message_start');
    await reader?.cancel();
    await eventually(() => expect(bench.loopback.modelUsage().inputTokens).toBe(4));
    expect(bench.loopback.lastModelError()).toBeUndefined();
  });

  it('takes the key by bearer too, and a model that takes no key gets none', async () => {
    expect((await bench.ask('x', {headers: {'x-api-key': '', authorization: `Bearer ${ATTEMPT_KEY}`}})).status).toBe(
      401,
    );
    const bearer = await sendRaw(
      bench.port,
      `POST /model/v1/messages/count_tokens HTTP/1.1\r\nhost: 127.0.0.1:${bench.port}\r\nauthorization: Bearer ${ATTEMPT_KEY}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
    expect(bearer.status).toBe(200);
  });

  it('speaks OpenAI chat with the version segment or without it', async () => {
    await bench.restart({dialect: 'OpenAIChat', baseUrl: `${BASE}/api/v1`});
    for (const path of ['/chat/completions', '/v1/chat/completions']) {
      const reply = await fetch(`${bench.loopback.modelUrl}${path}`, {
        method: 'POST',
        headers: {authorization: `Bearer ${ATTEMPT_KEY}`},
        body: JSON.stringify({model: 'm', stream: true, messages: [{role: 'user', content: 'stub say a b'}]}),
      });
      expect(await reply.text()).toContain('[DONE]');
      expect(bench.stub.seen.at(-1)).toMatchObject({
        url: '/api/v1/chat/completions',
        headers: {authorization: `Bearer ${REAL_KEY}`},
      });
    }
    await eventually(() => expect(bench.loopback.modelUsage()).toEqual({inputTokens: 8, outputTokens: 4, requests: 2}));
  });
});

describe('a failed model call', () => {
  it.each([
    ['stub error 429 slow down', 429, 'slow down'],
    ['stub error 500 broken', 500, 'broken'],
    ['stub streamerror busy', 200, 'busy'],
  ])('%s is remembered', async (prompt, status, message) => {
    await (await bench.ask(prompt, {stream: true})).text();
    await eventually(() => expect(bench.loopback.lastModelError()).toMatchObject({status, message}));
  });

  it('is made good by a success of the same model only', async () => {
    await (await bench.ask('stub error 500 broken', {model: 'big'})).text();
    await eventually(() => expect(bench.loopback.lastModelError()).toBeDefined());
    await (await bench.ask('stub say title', {model: 'small'})).text();
    await eventually(() => expect(bench.loopback.modelUsage().outputTokens).toBe(1));
    expect(bench.loopback.lastModelError()).toMatchObject({status: 500});
    await (await bench.ask('stub say fine', {model: 'big'})).text();
    await eventually(() => expect(bench.loopback.lastModelError()).toBeUndefined());
  });

  it('a stream that the provider cuts is a failure', async () => {
    await expect((await bench.ask('stub cut', {stream: true})).text()).rejects.toThrow();
    await eventually(() => expect(bench.loopback.lastModelError()).toMatchObject({code: 'reply_cut'}));
  });

  it('a redirect is not followed', async () => {
    const reply = await bench.ask('stub redirect https://evil.example/v1/messages');
    expect(reply.status).toBe(502);
    expect(reply.headers.get('location')).toBeNull();
    expect(bench.relay.seen).toHaveLength(1);
    expect(bench.loopback.lastModelError()).toMatchObject({code: 'redirect_refused'});
  });

  it('a target that the relay refuses names itself', async () => {
    bench.routes.clear();
    const reply = await bench.ask('stub say x');
    expect(reply.status).toBe(502);
    expect(await reply.text()).toContain('refused model.example:443: 403 not allowed');
  });

  it('a certificate of another authority is refused, and the key is not sent', async () => {
    const other = await makeCertificate(['model.example']);
    const stranger = await startModelStub(other);
    bench.routes.set(ALLOWED, stranger.port);
    expect((await bench.ask('stub say x')).status).toBe(502);
    expect(stranger.seen).toEqual([]);
    await stranger.close();
  });

  it('a certificate of another name is refused', async () => {
    bench.routes.set('other.example:443', bench.stub.port);
    await bench.restart({baseUrl: 'https://other.example'}, {key: REAL_KEY, origin: 'https://other.example'});
    expect((await bench.ask('stub say x')).status).toBe(502);
    expect(bench.stub.seen).toEqual([]);
  });

  it('a compressed reply is refused, since it could hide the key', async () => {
    const server = createTlsServer(await ModelBench.certificate(), (socket: TLSSocket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\nconnection: close\r\n\r\nxx'),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    bench.routes.set(ALLOWED, typeof address === 'object' && address ? address.port : 0);
    expect(await (await bench.ask('stub say x')).json()).toMatchObject({error: {type: 'encoding_refused'}});
    server.close();
  });
});
