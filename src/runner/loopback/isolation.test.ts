import {once} from 'node:events';
import {createServer, type Server} from 'node:net';
import {afterEach, beforeEach, expect, it} from 'vitest';
import {checkIsolation} from './index.ts';

let listening: Server;
let open: {host: string; port: number};
let refused: {host: string; port: number};

beforeEach(async () => {
  listening = createServer((socket) => socket.destroy());
  const gone = createServer();
  for (const server of [listening, gone]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const port = (server: Server) => {
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  };
  open = {host: '127.0.0.1', port: port(listening)};
  refused = {host: '127.0.0.1', port: port(gone)};
  gone.close();
  await once(gone, 'close');
});

afterEach(() => {
  listening.close();
});

// 192.0.2.1 (TEST-NET-1) is dropped or unroutable everywhere: it stands for a silent policy.
const silent = {host: '192.0.2.1', port: 9};

it('an allowed port that answers and a canary that is refused: closed', async () => {
  expect(await checkIsolation({allowed: open, canary: refused, timeoutMs: 2000})).toBe('closed');
});

it('a canary that never answers is closed too, within the limit', async () => {
  expect(await checkIsolation({allowed: open, canary: silent, timeoutMs: 200})).toBe('closed');
});

it('a canary that answers: open, whatever the allowed port does', async () => {
  expect(await checkIsolation({allowed: open, canary: open, timeoutMs: 2000})).toBe('open');
  expect(await checkIsolation({allowed: refused, canary: open, timeoutMs: 2000})).toBe('open');
});

it('an allowed port that does not answer proves nothing: unreachable', async () => {
  expect(await checkIsolation({allowed: refused, canary: refused, timeoutMs: 2000})).toBe('unreachable');
});
