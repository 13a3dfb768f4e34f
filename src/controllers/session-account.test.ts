import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import {ServiceAccounts} from '../kube/builtin.ts';
import {Turns} from '../kube/kinds.ts';

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

describe('a ServiceAccount that is deleted again and again', () => {
  it('leaves an idle session asleep, and each next turn runs in another pod', async () => {
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
});
