import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {putAddresses} from '../../test/support/controller-fixture.ts';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import {Pods} from '../kube/builtin.ts';
import {Turns} from '../kube/kinds.ts';
import {ClusterAddresses} from './cluster-ip.ts';

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

describe('the addresses that pods are told', () => {
  const service = (name: string) => ({namespace, name});
  /** A Service never changes its address: it is deleted and made again. */
  const move = async (name: string, clusterIP: string) => {
    bench.api.drop(ClusterAddresses, service(name));
    await bench.run.settled();
    expect(bench.reconciles()).toBe(0);
    bench.api.put(ClusterAddresses, {metadata: service(name), spec: {clusterIP}});
  };

  it.each(['carrel-gateway', 'carrel-egress'])(
    'when %s moves, an idle pod goes at once; the next one is told',
    async (name) => {
      await bench.firstTurnEnds();
      bench.reconciles();
      await move(name, '10.0.0.9');
      const asleep = await bench.run.until('asleep', async () => {
        const {status} = await bench.run.session('one');
        return status?.phase === 'Sleeping' && status.pod === undefined ? status : undefined;
      });
      expect(asleep.attempt).toBe(1);
      const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
      bench.api.put(Turns, {metadata: {name: 'second', namespace, generation: 1}, spec});
      const pod = await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
      expect(JSON.stringify(bench.api.get(Pods, {namespace, name: pod.name})?.spec)).toContain('10.0.0.9:');
    },
  );

  it('when they move while a turn runs, its pod stays and says so, until the address is as before; another Service of the namespace wakes nobody', async () => {
    await bench.firstTurnRuns();
    await bench.run.settled();
    bench.reconciles();
    bench.api.put(ClusterAddresses, {metadata: service('other'), spec: {clusterIP: '10.0.0.3'}});
    await bench.run.settled();
    expect(bench.reconciles()).toBe(0);
    await move('carrel-gateway', '10.0.0.9');
    const told = await bench.run.until('told', async () => {
      const {status} = await bench.run.session('one');
      return status?.conditions?.some((c) => c.type === 'AddressMoved') === true ? status : undefined;
    });
    expect(told).toMatchObject({phase: 'Running', attempt: 1});
    expect(told.conditions?.find((c) => c.type === 'AddressMoved')?.message).toContain(
      'make anew Service carrel-gateway with spec.clusterIP 10.0.0.1',
    );
    await bench.run.settled();
    bench.reconciles();
    await move('carrel-gateway', '10.0.0.1');
    await bench.run.until('taken back', async () => {
      const {status} = await bench.run.session('one');
      return status?.conditions?.some((c) => c.type === 'AddressMoved') === false ? true : undefined;
    });
    expect((await bench.run.session('one')).status).toMatchObject({phase: 'Running', attempt: 1});
  });

  it('a session that starts before there are any waits, and goes on when the last one comes', async () => {
    for (const {metadata} of bench.api.list(ClusterAddresses)) bench.api.drop(ClusterAddresses, metadata);
    bench.create();
    const told = await bench.run.until('told', async () => {
      const ready = (await bench.run.session('one')).status?.conditions?.find((c) => c.type === 'Ready');
      return ready?.message.includes('no cluster address') === true ? ready : undefined;
    });
    expect(told).toMatchObject({status: 'False', reason: 'Starting'});
    await bench.run.settled();
    putAddresses(bench.api, namespace);
    await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
  });
});
