import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {AGENT_IMAGE} from '../../test/support/controller-fixture.ts';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import type {Pod} from '../api/kube-pod.ts';
import {Events, Pods} from '../kube/builtin.ts';
import {Sessions} from '../kube/kinds.ts';

let bench: SessionBench;
beforeEach(async () => {
  bench = await SessionBench.start();
});
afterEach(() => bench.stop());

describe('what comes back when a pod is made', () => {
  const made = (request: {method: string; path: string}) => request.method === 'POST' && request.path.endsWith('/pods');

  /** An API server without image volumes: it takes the pod, and drops them without a word. */
  const dropped = (request: {body: string}) => {
    const pod: Pod = JSON.parse(request.body);
    const volumes = pod.spec.volumes?.filter((v) => v.image === undefined);
    const metadata = {...pod.metadata, uid: 'dropped', resourceVersion: '1'};
    return {status: 201, body: {...pod, metadata, spec: {...pod.spec, volumes}}};
  };
  const asksForImages = (request: {method: string; path: string; body: string}) =>
    made(request) && request.body.includes('"image":{"reference"');
  const initContainers = async (session: string) => {
    const {name} = await bench.run.until(
      `pod of ${session}`,
      async () => (await bench.run.session(session)).status?.pod,
    );
    return bench.api.get(Pods, {namespace, name})?.spec.initContainers?.map((c) => c.name);
  };
  const switched = async () => {
    await bench.run.settled();
    return bench.api.list(Events).filter((e) => e.reason === 'RuntimeSwitched').length;
  };

  it('an API server that drops image volumes: the runtime is copied instead, for all that follow', async () => {
    bench.api.fault = (request) => (asksForImages(request) ? dropped(request) : undefined);
    bench.create();
    expect(await initContainers('one')).toEqual(['runner', 'runtime']);
    expect((await bench.run.session('one')).status?.attempt).toBe(1);
    expect(await switched()).toBe(1);
  });

  it('two sessions that start at once on such an API server: both go over, one of them says so', async () => {
    const both = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let asked = 0;
    bench.api.fault = async (request) => {
      if (!asksForImages(request)) {
        if (made(request)) over.resolve();
        return undefined;
      }
      asked += 1;
      if (asked === 1) await both.promise;
      // The other one learns of it when the first has gone over already.
      else {
        both.resolve();
        await over.promise;
      }
      return dropped(request);
    };
    bench.create();
    bench.create('two');
    for (const name of ['one', 'two']) {
      expect(await initContainers(name)).toEqual(['runner', 'runtime']);
      expect((await bench.run.session(name)).status?.attempt).toBe(1);
    }
    expect(asked).toBe(2);
    expect(await switched()).toBe(1);
  });

  it('two sessions whose pods are on a node that refuses image volumes: both go over', async () => {
    const refused = {reason: 'CreateContainerError', message: 'ImageVolumeMountFailed: no such snapshotter'};
    const agent = {name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {waiting: refused}};
    for (const name of ['one', 'two']) {
      bench.create(name);
      expect(await initContainers(name)).toEqual(['runner']);
    }
    for (const name of ['one', 'two']) {
      await bench.run.podStatus(name, {phase: 'Pending', containerStatuses: [agent]});
      await bench.run.until('attempt 2', async () =>
        (await bench.run.session(name)).status?.attempt === 2 ? true : undefined,
      );
      expect(await initContainers(name)).toEqual(['runner', 'runtime']);
    }
  });

  it('a foreign pod under the name of ours is deleted, and ours is made', async () => {
    bench.api.fault = (request) => {
      if (!request.path.endsWith('/sessions/one/status') || bench.api.list(Pods).length > 0) return undefined;
      const uid = bench.api.get(Sessions, {namespace, name: 'one'})?.metadata.uid ?? '';
      const spec = {containers: [{name: 'agent', image: 'evil'}]};
      bench.api.put(Pods, {metadata: {name: `carrel-one-${uid.slice(0, 8)}-1`, namespace}, spec});
      return undefined;
    };
    bench.create();
    const ref = await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
    expect(bench.api.list(Pods).map((p) => [p.metadata.uid, p.spec.containers[0]?.image])).toEqual([
      [ref.uid, AGENT_IMAGE],
    ]);
    await bench.run.settled();
    expect(bench.api.list(Events).filter((e) => e.reason === 'PodForeign')).toHaveLength(1);
  });

  it('a pod that claims to be of a session is deleted, in an Event that says why', async () => {
    await bench.firstTurnEnds();
    const {uid} = (await bench.run.session('one')).metadata;
    const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid, controller: true};
    const labels = {'carrel.dev/session': 'one'};
    const foreign = {metadata: {name: 'helper', namespace, labels, ownerReferences: [owner]}, spec: {containers: []}};
    bench.api.put(Pods, foreign);
    await bench.run.until('told', async () =>
      bench.api.list(Events).find((e) => e.reason === 'PodForeign' && e.note?.includes('pod helper has this Session')),
    );
    await bench.run.settled();
    expect(bench.api.list(Pods).map((p) => p.metadata.name)).toEqual([`carrel-one-${uid.slice(0, 8)}-1`]);
    expect(bench.api.list(Events).filter((e) => e.reason === 'PodForeign')).toHaveLength(1);
    expect((await bench.run.session('one')).status?.phase).toBe('Idle');
  });

  it.each([
    ['made by an earlier release', (pod: Pod) => ({...pod.spec, initContainers: []})],
    [
      'made to copy the runtime by a process that had given image volumes up',
      (pod: Pod) => ({...pod.spec, volumes: pod.spec.volumes?.filter((v) => v.image === undefined)}),
    ],
  ])('a pod of ours %s and never recorded goes, and one as it is asked for now follows', async (_what, spec) => {
    let earlier = '';
    bench.api.fault = (request) => {
      if (!made(request) || earlier !== '') return undefined;
      const pod: Pod = JSON.parse(request.body);
      earlier = bench.api.put(Pods, {...pod, metadata: {...pod.metadata, namespace}, spec: spec(pod)}).metadata.uid;
      return undefined;
    };
    bench.create();
    const ref = await bench.run.until('pod', async () => (await bench.run.session('one')).status?.pod);
    expect(bench.api.list(Pods).map((p) => p.metadata.uid)).toEqual([ref.uid]);
    expect(ref.uid).not.toBe(earlier);
    expect(await initContainers('one')).toEqual(['runner']);
    expect((await bench.run.session('one')).status).toMatchObject({phase: 'Starting', attempt: 1});
    const deletes = bench.api.requests.filter((r) => r.method === 'DELETE').map((r) => JSON.parse(r.body));
    // Its processes may run already.
    expect(deletes).toMatchObject([{preconditions: {uid: earlier}, gracePeriodSeconds: 30}]);
    expect(await switched()).toBe(0);
    expect(bench.api.list(Events).filter((e) => e.reason === 'PodForeign')).toHaveLength(1);
  });

  it('a webhook that adds a container: the session fails and says which field, nothing loops', async () => {
    let posts = 0;
    bench.api.fault = (request) => {
      if (!made(request)) return undefined;
      posts += 1;
      const pod: Pod = JSON.parse(request.body);
      const metadata = {...pod.metadata, uid: 'mutated', resourceVersion: '1'};
      const containers = [...pod.spec.containers, {name: 'mesh', image: 'mesh'}];
      return {status: 201, body: {...pod, metadata, spec: {...pod.spec, containers}}};
    };
    bench.create();
    const status = await bench.run.until('failed', async () => {
      const now = (await bench.run.session('one')).status;
      return now?.phase === 'Failed' ? now : undefined;
    });
    expect(status.stoppedReason).toBe('PodMutated');
    expect(status.conditions?.find((c) => c.type === 'Ready')?.message).toContain('spec.containers[].name');
    await bench.run.settled();
    expect(posts).toBe(1);
  });
});
