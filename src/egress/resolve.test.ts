import {createSocket, type Socket} from 'node:dgram';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {createResolve, type Resolve} from './resolve.ts';

// Answers for one name: A 192.0.2.7, AAAA 2001:db8::7; NXDOMAIN for all others.
const KNOWN = 'stub.ns.svc.cluster.local';

describe('resolving names', () => {
  let server: Socket;
  let asked: string[];
  let resolve: Resolve;
  beforeEach(async () => {
    asked = [];
    server = createSocket('udp4', (query, from) => server.send(answer(query), from.port, from.address));
    await new Promise<void>((done) => server.bind(0, '127.0.0.1', done));
    resolve = createResolve({clusterDomain: 'cluster.local', servers: [`127.0.0.1:${server.address().port}`]});
  });
  afterEach(() => void server.close());

  const answer = (query: Buffer): Buffer => {
    const labels: string[] = [];
    let at = 12;
    for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
      labels.push(query.subarray(at + 1, at + 1 + size).toString());
      at += size + 1;
    }
    const question = query.subarray(12, at + 5);
    const type = query.readUInt16BE(at + 1);
    asked.push(labels.join('.'));
    const data = type === 28 ? Buffer.from('20010db8000000000000000000000007', 'hex') : Buffer.from([192, 0, 2, 7]);
    const known = labels.join('.') === KNOWN;
    const head = Buffer.from([0, 0, 0x81, known ? 0x80 : 0x83, 0, 1, 0, known ? 1 : 0, 0, 0, 0, 0]);
    query.copy(head, 0, 0, 2);
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 9, 0, data.length]);
    return known ? Buffer.concat([head, question, record, data]) : Buffer.concat([head, question]);
  };

  it('gives both families', async () => expect(await resolve(KNOWN)).toEqual(['192.0.2.7', '2001:db8::7']));

  it('completes names of Services, and nothing else: no search list', async () => {
    expect(await resolve('stub.ns.svc')).toHaveLength(2);
    await expect(resolve('stub.ns')).rejects.toMatchObject({
      code: 'name_not_found',
      message: expect.stringContaining('ENOTFOUND'),
    });
    expect(new Set(asked)).toEqual(new Set([KNOWN, 'stub.ns']));
  });
});
