import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import type {Condition} from '../api/kube-object.ts';
import {Events} from '../kube/builtin.ts';
import {Sessions} from '../kube/kinds.ts';

const MINUTES = 60_000;

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

const late = async (): Promise<Condition | undefined> =>
  (await bench.run.session('one')).status?.conditions?.find((c) => c.type === 'TurnOverdue');

describe('a turn whose runner is frozen', () => {
  it('costs nothing until it is late; then it is told, given up, and ends as unknown, all by time alone', async () => {
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
    bench.passes(4 * MINUTES);
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
    expect((await bench.run.turn(first)).status?.phase).toBe('Running');
    bench.passes(MINUTES);
    const ended = await bench.run.until('ended', async () => {
      const {status} = await bench.run.turn(first);
      return status?.phase === 'Failed' ? status : undefined;
    });
    expect(ended.error).toMatchObject({code: 'outcome_unknown', message: expect.stringContaining('limits.turn')});
    await bench.run.until('attempt 2', async () =>
      (await bench.run.session('one')).status?.attempt === 2 ? true : undefined,
    );
    await bench.run.settled();
    expect(await late()).toBeUndefined();
    const notes = bench.api.list(Events).flatMap((e) => (e.reason === 'TurnOverdue' ? [e.note] : []));
    expect(notes).toEqual([expect.stringContaining('within 5 min'), expect.stringContaining('a new attempt follows')]);
  });

  it('is waited for no longer than that by a session that closes', async () => {
    const first = await bench.firstTurnRuns();
    const session = await bench.run.session('one');
    const metadata = {...session.metadata, namespace, generation: 2};
    bench.api.put(Sessions, {...session, metadata, spec: {...session.spec, desired: 'Closed'}});
    await bench.run.until('closing', async () =>
      (await bench.run.session('one')).status?.phase === 'Closing' ? true : undefined,
    );
    await bench.run.settled();
    bench.passes(65 * MINUTES);
    await bench.run.until('told', late);
    await bench.run.settled();
    bench.passes(5 * MINUTES);
    await bench.run.until('closed', async () =>
      (await bench.run.session('one')).status?.phase === 'Closed' ? true : undefined,
    );
    expect((await bench.run.turn(first)).status).toMatchObject({phase: 'Failed', error: {code: 'outcome_unknown'}});
  });
});
