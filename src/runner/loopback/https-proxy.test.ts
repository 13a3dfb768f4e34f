import {once} from 'node:events';
import {createServer, type Server} from 'node:net';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {ATTEMPT_KEY, startTestLoopback, type TestLoopback} from '../../../test/support/loopback.ts';
import {sendRaw} from '../../../test/support/raw-http.ts';
import {startTestRelay, type TestRelay} from '../../../test/support/relay.ts';

let site: Server;
let relay: TestRelay;
let test: TestLoopback;

beforeEach(async () => {
  site = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (chunk) => socket.end(`echo ${chunk}`));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const address = site.address();
  relay = await startTestRelay(
    new Map([['site.example:443', typeof address === 'object' && address ? address.port : 0]]),
  );
  test = await startTestLoopback({egressPort: relay.port});
});

afterEach(async () => {
  await test.close();
  await relay.close();
  site.close();
});

const basic = (text: string) => `proxy-authorization: Basic ${Buffer.from(text).toString('base64')}\r\n`;

const connectTo = (target: string, lines = basic(`carrel:${ATTEMPT_KEY}`), after = '') =>
  sendRaw(test.proxyPort, `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${lines}\r\n${after}`);

describe('the HTTPS proxy of the agent', () => {
  it('hands a tunnel on to the relay with the purpose agent, and nothing of its own', async () => {
    const reply = await connectTo('Site.example:443', basic(`carrel:${ATTEMPT_KEY}`), 'hello');
    expect(reply).toMatchObject({status: 200, body: 'echo hello'});
    expect(relay.seen).toEqual([
      {target: 'site.example:443', authorization: 'Bearer token-of-egress', purpose: 'agent'},
    ]);
  });

  it('says what the relay refused', async () => {
    expect(await connectTo('evil.example:443')).toMatchObject({
      status: 403,
      body: expect.stringContaining('refused evil.example:443: 403 not allowed'),
    });
  });

  it('passes on all that a site sends before it closes', async () => {
    const big = 'x'.repeat(3_000_000);
    site.removeAllListeners('connection');
    site.on('connection', (socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(big);
    });
    const reply = await connectTo('site.example:443');
    expect(reply.body).toHaveLength(big.length);
  });

  it('has a URL that proxy settings take', () => {
    expect(test.loopback.proxyUrl).toBe(`http://carrel:${ATTEMPT_KEY}@127.0.0.1:${test.proxyPort}`);
  });

  it.each([
    ['no key', 'site.example:443', '', 407],
    ['a wrong key', 'site.example:443', basic('carrel:guess'), 407],
    ['another user', 'site.example:443', basic(`root:${ATTEMPT_KEY}`), 407],
    ['a bearer', 'site.example:443', `proxy-authorization: Bearer ${ATTEMPT_KEY}\r\n`, 407],
    ['a purpose of its own', 'evil.example:443', `${basic(`carrel:${ATTEMPT_KEY}`)}carrel-purpose: model\r\n`, 403],
    ['an Origin', 'site.example:443', `${basic(`carrel:${ATTEMPT_KEY}`)}origin: null\r\n`, 403],
    ['no port', 'site.example', undefined, 400],
    ['a port out of range', 'site.example:70000', undefined, 400],
    ['a path', 'site.example:443/x', undefined, 400],
    ['a user', 'a@site.example:443', undefined, 400],
  ])('%s is refused', async (_name, target, lines, status) => {
    expect((await connectTo(target, lines)).status).toBe(status);
    expect(relay.seen.filter((seen) => seen.purpose !== 'agent')).toEqual([]);
  });

  const asked = (...hosts: readonly string[]) =>
    sendRaw(
      test.proxyPort,
      [
        'CONNECT Site.example:443 HTTP/1.1',
        ...hosts.map((host) => `host: ${host}`),
        `${basic(`carrel:${ATTEMPT_KEY}`)}\r\nhello`,
      ].join('\r\n'),
    );

  it.each([
    ['the target, as curl and Go send it', 'site.example:443'],
    ['its name alone, as the fetch of Node sends it', 'site.example'],
    ['the target in other letters', 'SITE.example:443'],
  ])('takes a Host header that is %s', async (_name, host) => {
    expect(await asked(host)).toMatchObject({status: 200, body: 'echo hello'});
  });

  it("takes the proxy's own address, as a plain request of Node sends it", async () => {
    expect(await asked(`127.0.0.1:${test.proxyPort}`)).toMatchObject({status: 200, body: 'echo hello'});
  });

  it('takes a CONNECT of HTTP/1.0, which has no Host header', async () => {
    const lines = `CONNECT site.example:443 HTTP/1.0\r\n${basic(`carrel:${ATTEMPT_KEY}`)}\r\nhello`;
    expect(await sendRaw(test.proxyPort, lines)).toMatchObject({status: 200, body: 'echo hello'});
  });

  it.each([
    ['another host', ['evil.example:443']],
    ['another port', ['site.example:8443']],
    ['another port of this address', ['127.0.0.1:9100']],
    ['nothing', ['']],
    ['two hosts, the right one first', ['site.example:443', 'evil.example:443']],
  ])('refuses a Host header that names %s', async (_name, hosts) => {
    expect((await asked(...hosts)).status).toBe(400);
    expect(relay.seen).toEqual([]);
  });

  it.each(['GET http://site.example/', 'POST /mcp', 'GET /'])('%s is refused: CONNECT only', async (line) => {
    const reply = await sendRaw(
      test.proxyPort,
      `${line} HTTP/1.1\r\nhost: site.example\r\n${basic(`carrel:${ATTEMPT_KEY}`)}\r\n`,
    );
    expect(reply.status).toBe(405);
    expect(relay.seen).toEqual([]);
  });

  it('closes its tunnels when the runner closes', async () => {
    const open = sendRaw(
      test.proxyPort,
      `CONNECT site.example:443 HTTP/1.1\r\nhost: site.example:443\r\n${basic(`carrel:${ATTEMPT_KEY}`)}\r\n`,
    ).catch(() => undefined);
    await expect.poll(() => relay.seen.length).toBe(1);
    await test.close();
    await open;
    test = await startTestLoopback({egressPort: relay.port});
  });
});
