import {afterEach, describe, expect, it} from 'vitest';
import {type EgressBench, GOOD, rest, startEgressBench, until} from '../../test/support/egress-bench.ts';
import {session} from '../../test/support/runner-objects.ts';
import {Sessions} from '../kube/kinds.ts';

let bench: EgressBench;
afterEach(() => bench.stop());

describe('a tunnel', () => {
  for (const [purpose, host] of [
    ['agent', 'echo.example'],
    ['model', 'models.example'],
  ] as const) {
    it(`of purpose ${purpose} carries bytes both ways, ends one direction at a time, and is counted`, async () => {
      bench = await startEgressBench();
      const {status, socket} = await bench.tunnel(`${host}:${bench.echoPort}`, {...GOOD, 'Carrel-Purpose': purpose});
      expect(status).toBe(200);
      socket.end('hello');
      expect(await rest(socket)).toBe('hello');
      await until(() => bench.counted.length > 0);
      expect(bench.counted).toEqual([{purpose, up: 5, down: 5}]);
    });
  }

  it('carries 8 MiB to a slow reader without keeping them', async () => {
    bench = await startEgressBench();
    const {socket} = await bench.tunnel(`echo.example:${bench.echoPort}`);
    const size = 8 * 1024 * 1024;
    socket.end(Buffer.alloc(size, 'x'));
    expect((await rest(socket)).length).toBe(size);
  });

  it('of a silent pair ends after the idle time', async () => {
    bench = await startEgressBench({limits: {perPod: 3, total: 10, idleMs: 50, connectMs: 2_000}});
    const {socket} = await bench.tunnel(`echo.example:${bench.echoPort}`);
    expect(await rest(socket).catch(() => 'reset')).toMatch(/^(reset|)$/);
    await until(() => bench.relay.tunnels.size() === 0);
  });

  it('is cut when its session names another pod', async () => {
    bench = await startEgressBench();
    const {socket} = await bench.tunnel(`echo.example:${bench.echoPort}`);
    bench.api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    expect(await rest(socket).catch(() => 'reset')).toMatch(/^(reset|)$/);
    expect((await bench.tunnel(`echo.example:${bench.echoPort}`)).body).toContain('not_bound');
  });
});
