import {createServer as createHttp} from 'node:http';
import {createServer, type Socket} from 'node:net';
import {afterEach, describe, expect, it} from 'vitest';
import {batchOf} from '../../test/support/transcript-store-contract.ts';
import {listen} from '../http/listen.ts';
import {createArchiveClient} from './index.ts';
import {createPatience} from './patience.ts';

describe('patience with an archive', () => {
  it('ends with the first silence, and one call in five seconds finds out whether it is back', () => {
    let time = 0;
    const patience = createPatience(() => time);
    expect(patience.mayAsk()).toBe(true);
    patience.silent();
    expect(patience.mayAsk()).toBe(false);
    time = 5_000;
    expect([patience.mayAsk(), patience.mayAsk(), patience.mayAsk()]).toEqual([true, false, false]);
    patience.silent();
    time = 9_999;
    expect(patience.mayAsk()).toBe(false);
    time = 10_000;
    expect(patience.mayAsk()).toBe(true);
    patience.heard();
    expect([patience.mayAsk(), patience.mayAsk()]).toEqual([true, true]);
  });
});

describe('an archive that takes connections and never answers', () => {
  const held: Socket[] = [];
  const server = createServer((socket) => void held.push(socket.on('error', () => undefined)));
  afterEach(() => {
    for (const socket of held.splice(0)) socket.destroy();
    server.close();
  });

  it('costs one caller its time limit, and the next ones nothing; when it answers, all are served', async () => {
    let time = 0;
    const port = await listen(server, 0, '127.0.0.1');
    const client = createArchiveClient({
      url: `http://127.0.0.1:${port}`,
      token: () => 't',
      timeoutMs: 200,
      now: () => time,
    });
    const append = () => client.append(batchOf(1, ['a'])).catch((error: unknown) => error);
    expect(await append()).toMatchObject({kind: 'Unavailable'});
    const asked = held.length;
    for (let n = 0; n < 20; n++)
      expect(await append()).toMatchObject({kind: 'Unavailable', message: expect.stringContaining('does not answer')});
    expect(held).toHaveLength(asked);
    for (const socket of held.splice(0)) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    const back = createHttp((_req, res) => res.end('{"acked":1}'));
    await listen(back, port, '127.0.0.1');
    // On a busy machine a first answer may come too late as well; the next one is asked for in its turn.
    const later = async () => {
      time += 5_000;
      return await append();
    };
    await expect.poll(later, {timeout: 15_000}).toEqual({acked: 1});
    client.close();
    back.close();
    back.closeAllConnections();
  });

  it('a caller that gives up is no silence', async () => {
    const port = await listen(server, 0, '127.0.0.1');
    const client = createArchiveClient({url: `http://127.0.0.1:${port}`, token: () => 't', timeoutMs: 10_000});
    const leave = new AbortController();
    const left = client.append(batchOf(1, ['a']), leave.signal).catch((error: unknown) => error);
    leave.abort();
    expect(await left).toMatchObject({kind: 'Unavailable'});
    await expect.poll(() => held.length).toBeLessThanOrEqual(1);
    const again = new AbortController();
    const next = client.append(batchOf(1, ['a']), again.signal).catch((error: unknown) => error);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    again.abort();
    expect(await next).not.toMatchObject({message: expect.stringContaining('does not answer')});
    client.close();
  });
});
