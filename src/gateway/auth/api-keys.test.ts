import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest';
import {digest} from '../../../test/support/gateway-fixture.ts';
import {keptLog} from '../../../test/support/log.ts';
import {systemClock} from '../../kube/clock.ts';
import {createApiKeys} from './api-keys.ts';

const compared = vi.hoisted((): [number, number][] => []);
// The real function, watched: that all entries are compared cannot be seen from outside in a way that a slow machine allows.
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    compared.push([a.byteLength, b.byteLength]);
    return crypto.timingSafeEqual(a, b);
  };
  return {...crypto, timingSafeEqual};
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carrel-keys-'));
});
afterAll(() => rm(folder, {recursive: true}));

describe('Z-013 keys are compared in constant time', () => {
  test.each(['key-a', 'key-b', 'key-c', 'no such key', '', 'key-a'.repeat(1_000)])(
    '%.20s is compared with every entry, as digests of one length',
    async (presented) => {
      const path = join(folder, 'keys.json');
      const keys = ['key-a', 'key-b', 'key-c'].map((k) => [k, {sha256: digest(k), serviceAccount: 'team-a/bot'}]);
      await writeFile(path, JSON.stringify(Object.fromEntries(keys)));
      const find = createApiKeys({path, clock: systemClock, log: keptLog()});
      compared.length = 0;
      expect((await find(presented))?.name).toBe(/^key-[abc]$/.test(presented) ? presented : undefined);
      expect(compared).toEqual([
        [32, 32],
        [32, 32],
        [32, 32],
      ]);
    },
  );
});
