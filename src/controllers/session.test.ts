import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import {Pods} from '../kube/builtin.ts';
import {Sessions, Turns} from '../kube/kinds.ts';

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

// Each is there for a reason: admission is a compare-and-swap of the Session, the turn is handed over only after it, the
// gateway ends it, and the Session is free again.
const TURN = ['PATCH sessions status', 'PATCH sessions status', 'PATCH turns status', 'PATCH turns status'];

// How many changes one reconcile sees is up to the machine, so reconciles have a bound and writes a list.
describe('writes of the controller and the gateway, as the budget counts them', () => {
  it('from create to the end of the first turn: 12 with 1 Event, in at most 10 reconciles; gone: nothing more', async () => {
    await bench.firstTurnEnds();
    expect(bench.writes().sort()).toEqual(
      [
        'POST persistentvolumeclaims',
        'POST turns',
        // The attempt before its pod.
        'PATCH sessions status',
        'POST pods',
        // The pod, from which on its token counts; and the turn waits, while images are pulled.
        'PATCH sessions status',
        'PATCH turns status',
        'POST events',
        // The runner reports.
        'PATCH sessions status',
        ...TURN,
      ].sort(),
    );
    expect(bench.reconciles()).toBeLessThanOrEqual(10);
    bench.api.drop(Sessions, {namespace, name: 'one'});
    await bench.run.settled();
    for (const turn of bench.api.list(Turns)) bench.api.drop(Turns, turn.metadata);
    for (const pod of bench.api.list(Pods)) bench.api.drop(Pods, pod.metadata);
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
    expect(bench.reconciles()).toBe(0);
  });

  it('a further turn of the gateway: 4 beside its creation, in at most 5 reconciles', async () => {
    await bench.firstTurnEnds();
    bench.writes();
    bench.reconciles();
    const {uid} = (await bench.run.session('one')).metadata;
    const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid, controller: true};
    await bench.furtherTurn({ownerReferences: [owner]});
    expect(bench.writes().sort()).toEqual(TURN);
    expect(bench.reconciles()).toBeLessThanOrEqual(5);
  });

  it('a further turn made with plain kubectl: one more, which makes it go with its Session, in at most 5 reconciles', async () => {
    await bench.firstTurnEnds();
    bench.writes();
    bench.reconciles();
    await bench.furtherTurn({});
    expect(bench.writes().sort()).toEqual([...TURN.slice(0, 2), 'PATCH turns', ...TURN.slice(2)]);
    expect(bench.reconciles()).toBeLessThanOrEqual(5);
  });
});

describe('a session that fails', () => {
  it('costs its queued turn one write, which says so; nothing is written again until restart is raised', async () => {
    bench.create();
    await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
    await bench.run.settled();
    bench.writes();
    await bench.run.report('one', {state: 'Failed', reason: 'CommandNotFound', message: 'no such program'});
    const {initialTurn} = await bench.run.until('failed and gone', async () => {
      const now = (await bench.run.session('one')).status;
      return now?.phase === 'Failed' && now.pod === undefined ? now : undefined;
    });
    await bench.run.settled();
    expect(bench.writes().filter((w) => w.includes('turns'))).toEqual(['PATCH turns status']);
    const told = (await bench.run.turn(initialTurn?.name ?? '')).status;
    expect(told?.conditions?.map((c) => [c.type, c.reason])).toEqual([
      ['Ready', 'SessionFailed'],
      ['Stalled', 'SessionFailed'],
    ]);
    await bench.restart();
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
  });
});

describe('deletion', () => {
  it('costs no write: what a session owns goes with it', async () => {
    const first = await bench.firstTurnRuns();
    await bench.run.settled();
    bench.writes();
    bench.api.drop(Sessions, {namespace, name: 'one'});
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
    expect((await bench.run.turn(first)).status?.phase).toBe('Running');
  });
});

describe('twice is a no-op', () => {
  it('a session that is settled is not written by a second look', async () => {
    const first = await bench.firstTurnRuns();
    await bench.run.finish(first);
    await bench.run.until('idle', async () =>
      (await bench.run.session('one')).status?.phase === 'Idle' ? true : undefined,
    );
    await bench.run.settled();
    bench.writes();
    await bench.restart();
    await bench.run.settled();
    expect(bench.writes()).toEqual([]);
  });
});
