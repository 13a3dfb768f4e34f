import {createSocket} from 'node:dgram';
import {Resolver} from 'node:dns/promises';
import {once} from 'node:events';
import {connect} from 'node:net';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {keptLog} from '../../../test/support/loopback.ts';
import {answerNoSuchName, type NameAnswerer, startNameAnswerer} from './dns.ts';

/** Query for `a.bc`, type A, id 0x1234, recursion desired. */
const QUERY = Buffer.from('123401000001000000000000' + '0161' + '026263' + '00' + '00010001', 'hex');

let answerer: NameAnswerer | undefined;

beforeEach(async () => {
  answerer = undefined;
  // The port that is free for UDP may be taken for TCP.
  for (let tries = 0; answerer === undefined && tries < 20; tries++) answerer = await startNameAnswerer(0, keptLog());
});

afterEach(async () => {
  await answerer?.close();
});

describe('the name answerer', () => {
  it('says at once that a name does not exist', async () => {
    const resolver = new Resolver({timeout: 2000, tries: 1});
    resolver.setServers([`127.0.0.1:${answerer?.port}`]);
    await expect(resolver.resolve4('www.example.com')).rejects.toMatchObject({code: 'ENOTFOUND'});
    await expect(resolver.resolve6('secret-name.example')).rejects.toMatchObject({code: 'ENOTFOUND'});
  });

  it('cuts a client that asks over TCP without end and reads no answer', async () => {
    const socket = connect(answerer?.port ?? 0, '127.0.0.1');
    socket.pause();
    socket.on('error', () => {});
    const label = Buffer.concat([Buffer.from([60]), Buffer.alloc(60, 'a')]);
    const long = Buffer.concat([QUERY.subarray(0, 12), label, label, label, label, QUERY.subarray(-5)]);
    const framed = Buffer.concat([Buffer.from([long.length >> 8, long.length & 255]), long]);
    const flood = Buffer.concat(Array.from({length: 500}, () => framed));
    // Resolves when no more can be written: a connection that stays open and takes everything never ends this.
    await new Promise<void>((resolve) => {
      const more = (error?: Error | null): void => {
        if (error) resolve();
        else socket.write(flood, more);
      };
      more();
    });
    expect(socket.bytesRead).toBe(0);
  });

  it('answers over TCP too, two queries on one connection', async () => {
    const socket = connect(answerer?.port ?? 0, '127.0.0.1');
    const framed = Buffer.concat([Buffer.from([0, QUERY.length]), QUERY]);
    socket.write(Buffer.concat([framed, framed]));
    let got = Buffer.alloc(0);
    while (got.length < 2 * framed.length) {
      const [chunk] = await once(socket, 'data');
      got = Buffer.concat([got, chunk]);
    }
    expect(got.readUInt16BE(4) & 0x800f).toBe(0x8003);
    socket.destroy();
  });

  it('gives back the question and the id, with no records', () => {
    expect(answerNoSuchName(QUERY)?.toString('hex')).toBe(`12348183${'0001000000000000'}0161026263000001${'0001'}`);
  });

  it.each([
    ['an answer', Buffer.concat([Buffer.from('12348180', 'hex'), QUERY.subarray(4)])],
    ['two questions', Buffer.concat([QUERY.subarray(0, 4), Buffer.from('0002', 'hex'), QUERY.subarray(6)])],
    ['a name that runs out of the packet', QUERY.subarray(0, 18)],
    ['a compressed name', Buffer.concat([QUERY.subarray(0, 12), Buffer.from('c00c00010001', 'hex')])],
    ['a packet without a question', QUERY.subarray(0, 12)],
    ['nothing', Buffer.alloc(0)],
    ['a giant', Buffer.concat([QUERY, Buffer.alloc(600)])],
  ])('stays silent at %s', (_name, packet) => {
    expect(answerNoSuchName(packet)).toBeUndefined();
  });

  it('a port that is taken is no failure: the session goes on without', async () => {
    const taken = createSocket('udp4');
    taken.bind(0, '127.0.0.1');
    await once(taken, 'listening');
    const log = keptLog();
    expect(await startNameAnswerer(taken.address().port, log)).toBeUndefined();
    expect(log.lines).toHaveLength(1);
    taken.close();
  });
});
