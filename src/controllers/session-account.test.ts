import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import {Events, ServiceAccounts} from '../kube/builtin.ts';
import {Sessions, Turns} from '../kube/kinds.ts';

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

/** Somebody deletes the ServiceAccount of the Agent; the controllers make it again, with another UID. */
async function replaceAccount(): Promise<void> {
  const [account] = bench.api.list(ServiceAccounts);
  if (account === undefined) throw new Error('the Agent has no ServiceAccount');
  bench.api.drop(ServiceAccounts, account.metadata);
  await bench.run.until('made again', async () => bench.api.get(ServiceAccounts, account.metadata));
}

describe('a ServiceAccount that is deleted and made again', () => {
  it('again and again leaves an idle session asleep, and each next turn runs in another pod', async () => {
    await bench.firstTurnEnds();
    for (const name of ['second', 'third', 'fourth']) {
      await replaceAccount();
      await bench.run.until('asleep', async () => {
        const {status} = await bench.run.session('one');
        return status?.phase === 'Sleeping' && status.pod === undefined ? true : undefined;
      });
      const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
      bench.api.put(Turns, {metadata: {name, namespace, generation: 1}, spec});
      await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
      await bench.run.report('one');
      await bench.run.until('runs', async () =>
        (await bench.run.turn(name)).status?.phase === 'Running' ? true : undefined,
      );
      await bench.run.finish(name);
      await bench.run.until('idle', async () =>
        (await bench.run.session('one')).status?.phase === 'Idle' ? true : undefined,
      );
    }
    const {status} = await bench.run.session('one');
    expect(status).toMatchObject({turns: 4, attempt: 4});
    expect(status?.timeline?.map((e) => e.event)).not.toContain('Lost');
  });

  it('while a session closes: it waits no longer for the turn that nobody would hear the end of', async () => {
    const first = await bench.firstTurnRuns();
    const session = await bench.run.session('one');
    const metadata = {...session.metadata, generation: 2};
    bench.api.put(Sessions, {...session, metadata, spec: {...session.spec, desired: 'Closed'}});
    await bench.run.until('closing', async () =>
      (await bench.run.session('one')).status?.phase === 'Closing' ? true : undefined,
    );
    await bench.run.settled();
    expect((await bench.run.turn(first)).status?.phase).toBe('Running');
    await replaceAccount();
    await bench.run.until('closed', async () =>
      (await bench.run.session('one')).status?.phase === 'Closed' ? true : undefined,
    );
    expect((await bench.run.turn(first)).status).toMatchObject({phase: 'Failed', error: {code: 'outcome_unknown'}});
    await bench.run.settled();
    const told = bench.api.list(Events).find((e) => e.reason === 'ServiceAccountReplaced');
    expect(told).toMatchObject({type: 'Warning', note: expect.stringContaining('the pod is being ended')});
  });
});

describe('a ServiceAccount that is being deleted and held by a finalizer', () => {
  const hold = (heldFor: number) => {
    const [account] = bench.api.list(ServiceAccounts);
    if (account === undefined) throw new Error('the Agent has no ServiceAccount');
    const deletionTimestamp = new Date(Date.now() - heldFor * 1_000).toISOString();
    const metadata = {...account.metadata, deletionTimestamp, finalizers: ['x.example/f']};
    bench.api.put(ServiceAccounts, {...account, metadata});
  };

  it('puts an idle session to sleep: its pod would lose its tokens', async () => {
    await bench.firstTurnEnds();
    hold(0);
    await bench.run.until('asleep', async () =>
      (await bench.run.session('one')).status?.phase === 'Sleeping' ? true : undefined,
    );
  });

  it('ends a running turn as unknown once the tokens of its pod are void, and says so', async () => {
    const first = await bench.firstTurnRuns();
    hold(60);
    await bench.run.until('ended', async () => (await bench.run.turn(first)).status?.error?.code);
    expect((await bench.run.turn(first)).status?.error?.code).toBe('outcome_unknown');
    const told = bench.api.list(Events).find((e) => e.reason === 'ServiceAccountReplaced');
    expect(told).toMatchObject({type: 'Warning', note: expect.stringContaining('is being deleted, which voids')});
  });
});
