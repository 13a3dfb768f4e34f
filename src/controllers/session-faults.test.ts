import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import type {SessionObject} from '../api/v1alpha1/index.ts';
import {ArchiveError} from '../domain/archive.ts';
import {Pods} from '../kube/builtin.ts';
import {Sessions, Turns} from '../kube/kinds.ts';

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

const archiveCondition = ({status}: SessionObject) => status?.conditions?.find((c) => c.type === 'ArchiveUnavailable');

describe('faults', () => {
  it('a pod that was made but not recorded is taken, not made twice', async () => {
    let lost = 0;
    bench.api.fault = (request) => {
      if (request.method === 'POST' && request.path.endsWith('/pods') && lost++ === 0) return 'lose';
      return undefined;
    };
    await bench.firstTurnRuns();
    expect(bench.api.list(Pods)).toHaveLength(1);
    expect((await bench.run.session('one')).status?.attempt).toBe(1);
  });

  it('a report that comes while a failed pod is deleted does not turn the failure into a loss', async () => {
    bench.create();
    await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
    let overtaken = 0;
    bench.api.fault = (request) => {
      const session = bench.api.get(Sessions, {namespace, name: 'one'});
      const runner = session?.status?.runner;
      if (request.method === 'DELETE' && session !== undefined && runner !== undefined && overtaken++ === 0) {
        bench.api.put(Sessions, {...session, status: {...session.status, runner: {...runner, epoch: 2}}});
      }
      return undefined;
    };
    await bench.run.report('one', {state: 'Failed', reason: 'CommandNotFound', message: 'no such program'});
    const status = await bench.run.until('failed and gone', async () => {
      const now = (await bench.run.session('one')).status;
      return now?.phase === 'Failed' && now.pod === undefined ? now : undefined;
    });
    await bench.run.settled();
    expect(overtaken).toBeGreaterThan(0);
    expect(status).toMatchObject({attempt: 1, stoppedReason: 'StartFailed', runner: {epoch: 2}});
    expect(bench.api.list(Pods)).toEqual([]);
  });

  it('while the archive is down a turn whose pod is lost stays Running; then it ends once', async () => {
    const first = await bench.firstTurnRuns();
    bench.run.archiveFault = new ArchiveError('Unavailable', 'archive is down');
    const pod = (await bench.run.session('one')).status?.pod?.name ?? '';
    bench.api.drop(Pods, {namespace, name: pod});
    await bench.run.until('the failure is logged', async () =>
      bench.run.log.lines.some((l) => l.message === 'reconcile failed') ? true : undefined,
    );
    expect(archiveCondition(await bench.run.session('one'))).toBeUndefined();
    bench.ahead = 10_000;
    const told = await bench.run.until('the session says so', async () =>
      archiveCondition(await bench.run.session('one')),
    );
    expect(told).toMatchObject({
      status: 'True',
      reason: 'ArchiveUnavailable',
      message: expect.stringContaining('nothing is lost while the pod stays'),
    });
    expect((await bench.run.turn(first)).status?.phase).toBe('Running');
    bench.run.archiveFault = undefined;
    const ended = await bench.run.until('ended', async () => {
      const {status} = await bench.run.turn(first);
      return status?.phase === 'Failed' ? status : undefined;
    });
    expect(ended).toMatchObject({error: {code: 'outcome_unknown'}, archived: true});
    expect(bench.run.archived).toHaveLength(1);
    await bench.run.until('attempt 2', async () =>
      (await bench.run.session('one')).status?.attempt === 2 ? true : undefined,
    );
    await bench.run.settled();
    expect(archiveCondition(await bench.run.session('one'))).toBeUndefined();
  });

  it('a failed session does not say for ever that the archive was down when it failed', async () => {
    const first = await bench.firstTurnRuns();
    bench.run.archiveFault = new ArchiveError('Unavailable', 'archive is down');
    await bench.run.report('one', {state: 'Failed', reason: 'StartFailed', message: 'gone for good'});
    await bench.run.until('failed', async () =>
      (await bench.run.session('one')).status?.phase === 'Failed' ? true : undefined,
    );
    await bench.run.until('the failure is logged', async () =>
      bench.run.log.lines.some((l) => l.message === 'reconcile failed') ? true : undefined,
    );
    bench.ahead = 10_000;
    await bench.run.until('the session says so', async () => archiveCondition(await bench.run.session('one')));
    bench.run.archiveFault = undefined;
    await bench.run.until('ended', async () =>
      (await bench.run.turn(first)).status?.phase === 'Failed' ? true : undefined,
    );
    await bench.run.until('taken back', async () =>
      archiveCondition(await bench.run.session('one')) === undefined ? true : undefined,
    );
    expect((await bench.run.session('one')).status?.conditions?.map((c) => c.type)).toContain('Failed');
  });

  it('while the archive is down an attempt goes on: pod and volume are recorded, only the queue waits', async () => {
    await bench.firstTurnRuns();
    bench.run.archiveFault = new Error('archive is down');
    const pod = (await bench.run.session('one')).status?.pod?.name ?? '';
    bench.api.drop(Pods, {namespace, name: pod});
    const status = await bench.run.until('second pod', async () => {
      const now = (await bench.run.session('one')).status;
      return now?.attempt === 2 && now.pod !== undefined ? now : undefined;
    });
    expect(status).toMatchObject({turns: 0, admitted: [{sequence: 1}]});
    bench.run.archiveFault = undefined;
    await bench.run.until('counted once', async () =>
      (await bench.run.session('one')).status?.turns === 1 ? true : undefined,
    );
    expect(bench.run.archived).toHaveLength(1);
  });

  it('a quota that takes no turn is told, and the prompt is not lost', async () => {
    const message = 'exceeded quota: q, requested: count/turns.carrel.dev=1, used: 0, limited: 0';
    bench.api.fault = (request) =>
      request.method === 'POST' && request.path.endsWith('/turns')
        ? {status: 403, body: {kind: 'Status', reason: 'Forbidden', message, code: 403}}
        : undefined;
    bench.create();
    const ready = await bench.run.until('told', async () =>
      (await bench.run.session('one')).status?.conditions?.find(
        (c) => c.type === 'Ready' && c.reason === 'QuotaExceeded',
      ),
    );
    expect(ready.message).toContain('the first turn');
    expect((await bench.run.session('one')).status?.initialTurn).toBeUndefined();
  });

  it('a quota that takes no volume is told, and not asked without end', async () => {
    const message = 'exceeded quota: q, requested: persistentvolumeclaims=1, used: 0, limited: 0';
    bench.api.fault = (request) =>
      request.method === 'POST' && request.path.endsWith('/persistentvolumeclaims')
        ? {status: 403, body: {kind: 'Status', reason: 'Forbidden', message, code: 403}}
        : undefined;
    bench.create();
    await bench.run.until('told', async () =>
      (await bench.run.session('one')).status?.conditions?.find((c) => c.reason === 'QuotaExceeded'),
    );
    await bench.run.settled();
    expect((await bench.run.session('one')).status).toMatchObject({phase: 'Pending'});
    // Its creation, and the first turn's.
    expect(bench.reconciles()).toBeLessThanOrEqual(3);
  });

  it('two writers: a status patch that meets another one is decided anew', async () => {
    let conflicts = 0;
    bench.api.fault = (request) => {
      const hit = request.method === 'PATCH' && request.path.endsWith('/sessions/one/status') && conflicts++ === 0;
      return hit ? {status: 409, body: {kind: 'Status', reason: 'Conflict', message: 'changed', code: 409}} : undefined;
    };
    await bench.firstTurnRuns();
    expect(conflicts).toBeGreaterThan(1);
    expect(bench.api.list(Turns)).toHaveLength(1);
  });
});
