import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {SessionBench} from '../../test/support/session-bench.ts';
import type {Condition} from '../api/kube-object.ts';
import {Events} from '../kube/builtin.ts';

const MINUTES = 60_000;

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

const late = async (): Promise<Condition | undefined> =>
  (await bench.run.session('one')).status?.conditions?.find((c) => c.type === 'TurnOverdue');

describe('a turn whose runner is frozen', () => {
  it('costs nothing until it is late; then it is told once, by time alone, and its end is still taken', async () => {
    const first = await bench.firstTurnRuns();
    await bench.run.settled();
    bench.writes();
    bench.passes(64 * MINUTES);
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
    bench.passes(MINUTES);
    await bench.run.until('told', late);
    await bench.run.settled();
    expect(bench.writes().filter((w) => w !== 'POST events')).toEqual(['PATCH sessions status']);
    bench.passes(600 * MINUTES);
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
    expect((await bench.run.turn(first)).status?.phase).toBe('Running');
    await bench.run.finish(first);
    await bench.run.until('idle', async () =>
      (await bench.run.session('one')).status?.phase === 'Idle' ? true : undefined,
    );
    expect(await late()).toBeUndefined();
    const notes = bench.api.list(Events).flatMap((e) => (e.reason === 'TurnOverdue' ? [e.note] : []));
    expect(notes).toEqual([expect.stringContaining('its end did not come')]);
  });
});
