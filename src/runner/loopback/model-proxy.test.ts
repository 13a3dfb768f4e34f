import {once} from 'node:events';
import {createServer as createTlsServer, type TLSSocket} from 'node:tls';
import {afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import {eventually} from '../../../test/support/eventually.ts';
import {ATTEMPT_KEY, REAL_KEY, startTestLoopback, type TestLoopback} from '../../../test/support/loopback.ts';
import {type Certificate, makeCertificate} from '../../../test/support/model-stub/certificate.ts';
import {type ModelStub, startModelStub} from '../../../test/support/model-stub/server.ts';
import {sendRaw} from '../../../test/support/raw-http.ts';
import {startTestRelay, type TestRelay} from '../../../test/support/relay.ts';

const BASE = 'https://model.example';
const ALLOWED = 'model.example:443';

let certificate: Certificate;
let stub: ModelStub;
let routes: Map<string, number>;
let relay: TestRelay;
let test: TestLoopback;

const anthropic = {
  name: 'stub-model',
  dialect: 'AnthropicMessages' as const,
  baseUrl: BASE,
  keyFile: 'key',
  caFile: 'ca.crt',
  keyFrom: {secret: 'llm', key: 'api-key'},
  caFrom: {configMap: 'ours', key: 'ca.pem'},
  proxy: 'Loopback' as const,
};

beforeAll(async () => {
  certificate = await makeCertificate(['model.example', '127.0.0.1']);
});

beforeEach(async () => {
  stub = await startModelStub({...certificate, apiKey: REAL_KEY});
  routes = new Map([[ALLOWED, stub.port]]);
  relay = await startTestRelay(routes);
  test = await start();
});

afterEach(async () => {
  await test.close();
  await Promise.all([relay.close(), stub.close()]);
});

async function start(model: object = {}, secret: Record<string, string> = {key: `${REAL_KEY}\n`, origin: BASE}) {
  return await startTestLoopback({
    model: {...anthropic, ...model},
    egressPort: relay.port,
    secret,
    ca: certificate.ca,
  });
}

async function restart(...with_: Parameters<typeof start>): Promise<void> {
  await test.close();
  test = await start(...with_);
}

function ask(prompt: string, more: {stream?: boolean; model?: string; headers?: Record<string, string>} = {}) {
  return fetch(`${test.loopback.modelUrl}/v1/messages`, {
    method: 'POST',
    headers: {'x-api-key': ATTEMPT_KEY, 'content-type': 'application/json', ...more.headers},
    body: JSON.stringify({
      model: more.model ?? 'stub-model',
      max_tokens: 100,
      ...(more.stream ? {stream: true} : {}),
      messages: [{role: 'user', content: prompt}],
    }),
  });
}

describe('a model call', () => {
  it('reaches the provider with the real key, through the relay with the purpose model', async () => {
    const reply = await ask('stub say one two three');
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({content: [{text: 'one two three'}]});
    expect(relay.seen).toEqual([{target: ALLOWED, authorization: 'Bearer token-of-egress', purpose: 'model'}]);
    expect(stub.seen[0]).toMatchObject({url: '/v1/messages', headers: {'x-api-key': REAL_KEY, host: 'model.example'}});
    await eventually(() => expect(test.loopback.modelUsage()).toEqual({inputTokens: 5, outputTokens: 3, requests: 1}));
    expect(test.loopback.lastModelError()).toBeUndefined();
  });

  it('carries only headers of the allowlist, in both directions', async () => {
    const headers = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'tools-2024',
      'x-evil': '1',
      'x-forwarded-for': '1.2.3.4',
    };
    const reply = await ask('stub say hello', {headers});
    expect(Object.keys(stub.seen[0]?.headers ?? {}).sort()).toEqual([
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
    const reply = await ask('stub slow 1000 20', {stream: true});
    const reader = reply.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('message_start');
    await reader?.cancel();
    await eventually(() => expect(test.loopback.modelUsage().inputTokens).toBe(4));
    expect(test.loopback.lastModelError()).toBeUndefined();
  });

  it('takes the key by bearer too, and a model that takes no key gets none', async () => {
    expect((await ask('x', {headers: {'x-api-key': '', authorization: `Bearer ${ATTEMPT_KEY}`}})).status).toBe(401);
    const bearer = await sendRaw(
      test.port,
      `POST /model/v1/messages/count_tokens HTTP/1.1\r\nhost: 127.0.0.1:${test.port}\r\nauthorization: Bearer ${ATTEMPT_KEY}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
    expect(bearer.status).toBe(200);
  });

  it('speaks OpenAI chat with the version segment or without it', async () => {
    await restart({dialect: 'OpenAIChat', baseUrl: `${BASE}/api/v1`});
    for (const path of ['/chat/completions', '/v1/chat/completions']) {
      const reply = await fetch(`${test.loopback.modelUrl}${path}`, {
        method: 'POST',
        headers: {authorization: `Bearer ${ATTEMPT_KEY}`},
        body: JSON.stringify({model: 'm', stream: true, messages: [{role: 'user', content: 'stub say a b'}]}),
      });
      expect(await reply.text()).toContain('[DONE]');
      expect(stub.seen.at(-1)).toMatchObject({
        url: '/api/v1/chat/completions',
        headers: {authorization: `Bearer ${REAL_KEY}`},
      });
    }
    await eventually(() => expect(test.loopback.modelUsage()).toEqual({inputTokens: 8, outputTokens: 4, requests: 2}));
  });
});

describe('the real key', () => {
  it.each([false, true])('is taken out of what comes back, stream: %s', async (stream) => {
    const text = await (await ask('stub headers', {stream})).text();
    expect(text).not.toContain(REAL_KEY);
    expect(text).toContain('[redacted]');
    expect(test.log.lines.join('\n')).not.toContain(REAL_KEY);
  });

  it('is taken out of errors and of the last error', async () => {
    const text = await (await ask(`stub error 400 your key ${REAL_KEY} is bad`)).text();
    expect(text).not.toContain(REAL_KEY);
    await eventually(() =>
      expect(test.loopback.lastModelError()).toMatchObject({status: 400, message: 'your key [redacted] is bad'}),
    );
  });

  it.each<[string, Record<string, string>, string, string]>([
    ['bound to another origin', {key: REAL_KEY, origin: 'https://other.example'}, 'OriginMismatch', `must be ${BASE},`],
    ['without an origin', {key: REAL_KEY}, 'OriginMismatch', 'has no key "origin":'],
    ['missing', {origin: BASE}, 'SecretNotFound', 'has no key "api-key":'],
    ['empty', {key: ' \n', origin: BASE}, 'SecretNotFound', 'has an empty "api-key":'],
    ['empty, without an origin', {key: ''}, 'SecretNotFound', 'has an empty "api-key" and has no key "origin":'],
    ['in no Secret', {}, 'SecretNotFound', 'does not exist, or has neither of the keys "api-key" and "origin":'],
    ['not a header value', {key: 'a\nb', origin: BASE}, 'SecretNotFound', 'is no plain text'],
  ])('%s: every call is refused and nothing is sent', async (_name, secret, reason, says) => {
    await restart({}, secret);
    const message = expect.stringMatching(/the Secret "llm" of model.key /);
    expect(test.loopback.findings()).toEqual([expect.objectContaining({reason, message})]);
    expect(test.loopback.findings()[0]?.message).toContain(says);
    expect(test.loopback.findings()[0]?.message).not.toContain(REAL_KEY);
    expect((await ask('stub say x')).status).toBe(502);
    expect(relay.seen).toEqual([]);
    expect(test.loopback.lastModelError()).toMatchObject({status: 0, code: reason});
    expect(test.loopback.modelUsage().requests).toBe(0);
  });

  it('is not sent where the CA bundle holds no certificates', async () => {
    certificate = {...certificate, ca: 'no certificate'};
    await restart();
    certificate = await makeCertificate(['model.example', '127.0.0.1']);
    const message = 'the ConfigMap "ours" of model.caBundle holds no PEM certificates: correct it';
    expect(test.loopback.findings()).toEqual([expect.objectContaining({reason: 'SecretNotFound', message})]);
    expect((await ask('stub say x')).status).toBe(502);
  });

  it('is not even read for a base URL that cannot be used', async () => {
    await restart({baseUrl: 'https://model.example:99999'});
    expect(test.loopback.findings()).toEqual([expect.objectContaining({reason: 'StartFailed'})]);
    expect((await ask('stub say x')).status).toBe(502);
  });

  it('is read anew for each call, so a corrected Secret helps at once', async () => {
    await restart({}, {key: REAL_KEY, origin: 'https://other.example'});
    await test.writeSecret('origin', BASE);
    expect((await ask('stub say x')).status).toBe(200);
    expect(test.loopback.findings()).toEqual([]);
  });
});

describe('a failed model call', () => {
  it.each([
    ['stub error 429 slow down', 429, 'slow down'],
    ['stub error 500 broken', 500, 'broken'],
    ['stub streamerror busy', 200, 'busy'],
  ])('%s is remembered', async (prompt, status, message) => {
    await (await ask(prompt, {stream: true})).text();
    await eventually(() => expect(test.loopback.lastModelError()).toMatchObject({status, message}));
  });

  it('is made good by a success of the same model only', async () => {
    await (await ask('stub error 500 broken', {model: 'big'})).text();
    await eventually(() => expect(test.loopback.lastModelError()).toBeDefined());
    await (await ask('stub say title', {model: 'small'})).text();
    await eventually(() => expect(test.loopback.modelUsage().outputTokens).toBe(1));
    expect(test.loopback.lastModelError()).toMatchObject({status: 500});
    await (await ask('stub say fine', {model: 'big'})).text();
    await eventually(() => expect(test.loopback.lastModelError()).toBeUndefined());
  });

  it('a stream that the provider cuts is a failure', async () => {
    await expect((await ask('stub cut', {stream: true})).text()).rejects.toThrow();
    await eventually(() => expect(test.loopback.lastModelError()).toMatchObject({code: 'reply_cut'}));
  });

  it('a redirect is not followed', async () => {
    const reply = await ask('stub redirect https://evil.example/v1/messages');
    expect(reply.status).toBe(502);
    expect(reply.headers.get('location')).toBeNull();
    expect(relay.seen).toHaveLength(1);
    expect(test.loopback.lastModelError()).toMatchObject({code: 'redirect_refused'});
  });

  it('a target that the relay refuses names itself', async () => {
    routes.clear();
    const reply = await ask('stub say x');
    expect(reply.status).toBe(502);
    expect(await reply.text()).toContain('refused model.example:443: 403 not allowed');
  });

  it('a certificate of another authority is refused, and the key is not sent', async () => {
    const other = await makeCertificate(['model.example']);
    const stranger = await startModelStub(other);
    routes.set(ALLOWED, stranger.port);
    expect((await ask('stub say x')).status).toBe(502);
    expect(stranger.seen).toEqual([]);
    await stranger.close();
  });

  it('a certificate of another name is refused', async () => {
    routes.set('other.example:443', stub.port);
    await restart({baseUrl: 'https://other.example'}, {key: REAL_KEY, origin: 'https://other.example'});
    expect((await ask('stub say x')).status).toBe(502);
    expect(stub.seen).toEqual([]);
  });

  it('a compressed reply is refused, since it could hide the key', async () => {
    const server = createTlsServer(certificate, (socket: TLSSocket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\nconnection: close\r\n\r\nxx'),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    routes.set(ALLOWED, typeof address === 'object' && address ? address.port : 0);
    expect(await (await ask('stub say x')).json()).toMatchObject({error: {type: 'encoding_refused'}});
    server.close();
  });
});

describe('an attack on the model proxy', () => {
  const head = (lines: Record<string, string> = {}) =>
    Object.entries({
      host: `127.0.0.1:${test.port}`,
      'x-api-key': ATTEMPT_KEY,
      'content-length': '2',
      connection: 'close',
      ...lines,
    })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const post = (target: string, lines?: Record<string, string>) =>
    sendRaw(test.port, `POST ${target} HTTP/1.1\r\n${head(lines)}\r\n{}`);

  it.each<[string, string, Record<string, string>, number]>([
    ['no key', '/model/v1/messages', {'x-api-key': ''}, 401],
    ['a wrong key', '/model/v1/messages', {'x-api-key': 'guess'}, 401],
    ['the key in another dialect', '/model/v1/messages', {'x-api-key': '', 'x-goog-api-key': ATTEMPT_KEY}, 401],
    ['two credentials', '/model/v1/messages', {authorization: `Bearer ${ATTEMPT_KEY}`}, 401],
    ['a foreign Host', '/model/v1/messages', {host: 'evil.example'}, 421],
    ['localhost as Host', '/model/v1/messages', {host: 'localhost:9100'}, 421],
    ['an Origin', '/model/v1/messages', {origin: 'http://127.0.0.1'}, 403],
    ['Origin null', '/model/v1/messages', {origin: 'null'}, 403],
    ['an absolute form', 'http://evil.example/model/v1/messages', {}, 400],
    ['a network path', '//evil.example/model/v1/messages', {}, 400],
    ['a path below the prefix', '/model/../mcp', {}, 404],
    ['a climbing path', '/model/v1/../../v1/messages', {}, 404],
    ['an encoded slash', '/model/v1%2fmessages', {}, 404],
    ['another API', '/model/v1/files', {}, 404],
    ['another prefix', '/modelx/v1/messages', {}, 404],
    ['a body that is announced too large', '/model/v1/messages', {'content-length': '99999999'}, 413],
  ])('%s is refused', async (_name, target, lines, status) => {
    expect((await post(target, lines)).status).toBe(status);
    expect(relay.seen).toEqual([]);
  });

  it('a body that turns out too large is refused', async () => {
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const reply = await sendRaw(
      test.port,
      `POST /model/v1/messages HTTP/1.1\r\n${head({'content-length': '', 'transfer-encoding': 'chunked'})}\r\n${chunk.repeat(17)}`,
    ).catch(() => ({status: 413}));
    expect(reply.status).toBe(413);
    expect(relay.seen).toEqual([]);
  });

  it('CONNECT to the model port leads nowhere', async () => {
    const reply = await sendRaw(test.port, `CONNECT model.example:443 HTTP/1.1\r\n${head({'content-length': ''})}\r\n`);
    expect(reply.status).not.toBe(200);
    expect(relay.seen).toEqual([]);
  });

  it('without a model of ours there is no proxy', async () => {
    await restart({proxy: 'None'});
    expect(test.loopback.modelUrl).toBe('');
    expect((await post('/model/v1/messages')).status).toBe(404);
  });
});
