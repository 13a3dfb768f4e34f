import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {
  AGENT_IMAGE,
  type ControllerFixture,
  putAddresses,
  sessionSpec,
  startControllers,
} from '../../test/support/controller-fixture.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {revisionData} from '../../test/support/session-objects.ts';
import {planAgent} from '../domain/agent/plan.ts';
import {ControllerRevisions, NetworkPolicies, Pods, ServiceAccounts} from '../kube/builtin.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';

const namespace = 'team';
let api: FakeApi;
let run: ControllerFixture;

beforeEach(async () => {
  api = await startFakeApi();
  putAddresses(api, namespace);
  const spec = {...revisionData().spec, image: AGENT_IMAGE};
  api.put(Agents, {metadata: {name: 'scribe', namespace, generation: 1}, spec});
  run = await startControllers({connection: api.connection, namespace});
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

/** A session whose turn runs; from then on the cache of Sessions learns nothing, and a second attempt happens elsewhere. */
async function secondAttemptUnseen(): Promise<{uid: string; podUID: string}> {
  api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
  await run.until('pod', async () => (await run.session('one')).status?.pod);
  await run.report('one');
  await run.until('turn', async () => (await run.session('one')).status?.activeTurn);
  await run.settled();
  api.fault = (request) =>
    request.path.endsWith('/sessions') && request.query.get('watch') !== null ? 'hang' : undefined;
  api.endWatches('break');
  const live = await run.session('one');
  const first = live.status?.pod ?? {name: '', uid: ''};
  const second = {name: first.name.replace(/1$/, '2'), uid: 'second-pod'};
  api.put(Sessions, {...live, status: {...live.status, attempt: 2, pod: second}});
  const pod = await run.client.get(Pods, {namespace, name: first.name});
  api.put(Pods, {...pod, metadata: {...pod.metadata, ...second}});
  return {uid: live.metadata.uid, podUID: second.uid};
}

const seesMore = async () =>
  run.log.lines.some((l) => JSON.stringify(l.fields).includes('has changed since it was read')) ? true : undefined;

describe('a cache of Sessions that is behind the others, as a new leader may have it', () => {
  it('R-A does not take the present pod for a stray', async () => {
    const {podUID} = await secondAttemptUnseen();
    await run.until('a look at the newest Session', seesMore);
    expect(api.list(Pods).map((p) => p.metadata.uid)).toContain(podUID);
  });

  it('ends no turn that runs in a pod which only the API server knows', async () => {
    const {uid, podUID} = await secondAttemptUnseen();
    const status = {phase: 'Running' as const, sessionUID: uid, podUID, sequence: 2};
    const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
    api.put(Turns, {metadata: {name: 'second', namespace, generation: 1}, spec, status});
    await run.until('a look at the newest Session', seesMore);
    expect((await run.turn('second')).status?.phase).toBe('Running');
    expect(run.archived).toEqual([]);
  });

  it('withdraws no question of a pod which only the API server knows', async () => {
    const {uid, podUID} = await secondAttemptUnseen();
    const status = {phase: 'Running' as const, sessionUID: uid, podUID, sequence: 2};
    const spec = {session: 'one', input: [{text: 'more'}], delivery: 'Queue' as const};
    api.put(Turns, {metadata: {name: 'second', namespace, generation: 1}, spec, status});
    const asked = {session: 'one', turn: 'second', kind: 'Permission' as const, text: 'Write?', to: 'Owner' as const};
    api.put(Questions, {metadata: {name: 'q', namespace, generation: 1}, spec: asked});
    const phase = await run.until('judged', async () => api.get(Questions, {namespace, name: 'q'})?.status?.phase);
    expect(phase).toBe('Open');
  });
});

describe('isolation objects', () => {
  it('a NetworkPolicy that somebody deletes or opens comes back at once', async () => {
    const policy = async () => api.list(NetworkPolicies)[0];
    const {metadata, spec} = await run.until('made', policy);
    await run.settled();
    api.drop(NetworkPolicies, {namespace, name: metadata.name});
    const again = await run.until('made again', policy);
    expect(again.spec).toEqual(spec);
    await run.settled();
    api.put(NetworkPolicies, {...again, metadata: {...again.metadata, generation: 2}, spec: {...spec, egress: []}});
    await run.until('closed again', async () => (((await policy())?.spec.egress?.length ?? 0) > 0 ? true : undefined));
  });

  /** A session whose Agent was deleted while its pod runs. */
  async function orphan() {
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    await run.report('one');
    await run.settled();
    api.drop(Agents, {namespace, name: 'scribe'});
    await run.settled();
  }

  it.each([
    ['deleted', true],
    ['deleted and made again under its name', false],
  ])('while a pod runs of an Agent that was %s, its policy comes back, deleted or opened', async (_how, gone) => {
    await orphan();
    const [policy] = api.list(NetworkPolicies);
    const {metadata, spec} = policy ?? {metadata: {name: ''}, spec: {}};
    if (!gone) {
      const again = {...revisionData().spec, image: AGENT_IMAGE};
      api.put(Agents, {metadata: {name: 'scribe', namespace, generation: 1}, spec: again});
      await run.until('both', async () => (api.list(NetworkPolicies).length === 2 ? true : undefined));
    }
    const now = () => api.get(NetworkPolicies, {namespace, name: metadata.name});
    api.drop(NetworkPolicies, {namespace, name: metadata.name});
    const made = await run.until('made again', async () => now());
    expect(made.spec).toEqual(spec);
    await run.settled();
    api.put(NetworkPolicies, {...made, metadata: {...made.metadata, generation: 2}, spec: {...made.spec, egress: []}});
    await run.until('closed again', async () => ((now()?.spec.egress?.length ?? 0) > 0 ? true : undefined));
  });

  it('so does its ServiceAccount, without a token of its own', async () => {
    await orphan();
    const name = api.list(ServiceAccounts)[0]?.metadata.name ?? '';
    api.drop(ServiceAccounts, {namespace, name});
    const made = await run.until('made again', async () => api.get(ServiceAccounts, {namespace, name}));
    expect(made.automountServiceAccountToken).toBe(false);
  });

  it('a pod that is made after its Agent went finds them made before it', async () => {
    let made = 0;
    let waits = true;
    api.fault = (request) => {
      if (request.method !== 'POST' || !request.path.endsWith('/pods')) return undefined;
      if (waits) return {status: 500, body: {kind: 'Status', reason: 'InternalError', message: 'later', code: 500}};
      made = api.list(NetworkPolicies).length + api.list(ServiceAccounts).length;
      return undefined;
    };
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    await run.until('attempt', async () => (await run.session('one')).status?.attempt);
    api.drop(Agents, {namespace, name: 'scribe'});
    for (const policy of api.list(NetworkPolicies)) api.drop(NetworkPolicies, policy.metadata);
    for (const account of api.list(ServiceAccounts)) api.drop(ServiceAccounts, account.metadata);
    await run.settled();
    waits = false;
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect(made).toBe(2);
  });

  it('when no pod is left, what is deleted stays deleted', async () => {
    await run.until('made', async () => api.list(NetworkPolicies)[0]);
    api.drop(Agents, {namespace, name: 'scribe'});
    await run.settled();
    for (const policy of api.list(NetworkPolicies)) api.drop(NetworkPolicies, policy.metadata);
    await run.settled();
    expect(api.list(NetworkPolicies)).toEqual([]);
  });
});

describe('a cache of Agents that is behind', () => {
  it('a restart runs the Agent as it was mended before', async () => {
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    await run.report('one', {state: 'Failed', reason: 'CommandNotFound', message: 'no such program'});
    await run.until('failed', async () => ((await run.session('one')).status?.phase === 'Failed' ? true : undefined));
    await run.settled();
    api.fault = (request) =>
      request.path.endsWith('/agents') && request.query.get('watch') !== null ? 'hang' : undefined;
    api.endWatches('break');
    const agent = await run.client.get(Agents, {namespace, name: 'scribe'});
    const mended = {...agent, spec: {...agent.spec, command: ['mended']}, metadata: {...agent.metadata, generation: 2}};
    const range = {first: 200_000, last: 200_100};
    const {create, status} = planAgent({agent: mended, stored: undefined, range, now: new Date()});
    if (create !== undefined) api.put(ControllerRevisions, create);
    api.put(Agents, {...mended, status});
    const {metadata, spec, status: failed} = await run.session('one');
    api.put(Sessions, {metadata: {...metadata, generation: 2}, spec: {...spec, restart: 1}, status: failed});
    const revision = await run.until('attempt 2', async () => {
      const now = (await run.session('one')).status;
      return now?.attempt === 2 ? now.revision : undefined;
    });
    expect(revision).toBe(status.publishedRevision);
    expect(revision).not.toBe(agent.status?.publishedRevision);
  });
});
