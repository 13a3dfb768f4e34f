import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {ATTEMPT_KEY} from '../../../test/support/loopback.ts';
import {ModelBench} from '../../../test/support/model-bench.ts';
import {sendRaw} from '../../../test/support/raw-http.ts';

let bench: ModelBench;

beforeEach(async () => {
  bench = await ModelBench.start();
});
afterEach(() => bench.stop());

describe('an attack on the model proxy', () => {
  const head = (lines: Record<string, string> = {}) =>
    Object.entries({
      host: `127.0.0.1:${bench.port}`,
      'x-api-key': ATTEMPT_KEY,
      'content-length': '2',
      connection: 'close',
      ...lines,
    })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const post = (target: string, lines?: Record<string, string>) =>
    sendRaw(bench.port, `POST ${target} HTTP/1.1\r\n${head(lines)}\r\n{}`);

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
    expect(bench.relay.seen).toEqual([]);
  });

  it('a body that turns out too large is refused', async () => {
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const reply = await sendRaw(
      bench.port,
      `POST /model/v1/messages HTTP/1.1\r\n${head({'content-length': '', 'transfer-encoding': 'chunked'})}\r\n${chunk.repeat(17)}`,
    ).catch(() => ({status: 413}));
    expect(reply.status).toBe(413);
    expect(bench.relay.seen).toEqual([]);
  });

  it('CONNECT to the model port leads nowhere', async () => {
    const reply = await sendRaw(
      bench.port,
      `CONNECT model.example:443 HTTP/1.1\r\n${head({'content-length': ''})}\r\n`,
    );
    expect(reply.status).not.toBe(200);
    expect(bench.relay.seen).toEqual([]);
  });

  it('without a model of ours there is no proxy', async () => {
    await bench.restart({proxy: 'None'});
    expect(bench.loopback.modelUrl).toBe('');
    expect((await post('/model/v1/messages')).status).toBe(404);
  });
});
