import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {type ControllerFixture, sessionSpec, startControllers} from '../../test/support/controller-fixture.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {type FakeClock, fakeClock} from '../../test/support/fake-clock.ts';
import {LABEL_AGENT, LABEL_AGENT_UID, LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import {sharedName} from '../domain/agent/isolation.ts';
import {ControllerRevisions, NetworkPolicies, Pods, ServiceAccounts} from '../kube/builtin.ts';
import {Sessions} from '../kube/kinds.ts';

const namespace = 'team';
const TEN_MINUTES = 600_000;
const agent = {name: 'scribe', uid: 'agent-00-uid'};
const labels = {[LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_AGENT]: agent.name, [LABEL_AGENT_UID]: agent.uid};
const metadata = {name: sharedName(agent), namespace, labels};
let api: FakeApi;
let run: ControllerFixture;
let clock: FakeClock;

beforeEach(async () => {
  api = await startFakeApi();
  clock = fakeClock();
  putAll();
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

/** What an Agent that is gone leaves behind. */
function putAll(): void {
  api.put(ControllerRevisions, {metadata, revision: 1, data: {}});
  api.put(NetworkPolicies, {metadata, spec: {podSelector: {}}});
  api.put(ServiceAccounts, {metadata});
}

async function start(): Promise<void> {
  run = await startControllers({connection: api.connection, namespace, clock});
  await run.settled();
}

async function pass(ms: number): Promise<void> {
  await clock.advance(ms);
  await run.settled();
}

/** Kinds of what is left. */
const left = () =>
  [...api.list(ControllerRevisions), ...api.list(NetworkPolicies), ...api.list(ServiceAccounts)].map(({kind}) => kind);
const ALL = ['ControllerRevision', 'NetworkPolicy', 'ServiceAccount'];

describe('what nothing refers to', () => {
  it('is swept after ten minutes, and not a second before', async () => {
    await start();
    await pass(TEN_MINUTES - 1_000);
    expect(left()).toEqual(ALL);
    await pass(1_000);
    expect(left()).toEqual([]);
  });

  it('stays when the API server knows of a reference that the caches have not seen', async () => {
    await start();
    await pass(TEN_MINUTES - 1_000);
    api.hold();
    const status = {phase: 'Sleeping' as const, revision: metadata.name};
    api.put(Sessions, {metadata: {name: 'one', namespace, generation: 1}, spec: sessionSpec(), status});
    api.put(Pods, {metadata: {name: 'carrel-one', namespace, labels}, spec: {containers: []}});
    await pass(1_000);
    expect(left()).toEqual(ALL);
  });

  it('stays when it was made anew meanwhile, and has its own ten minutes from then on', async () => {
    await start();
    await pass(TEN_MINUTES - 1_000);
    api.hold();
    api.drop(ControllerRevisions, metadata);
    api.drop(NetworkPolicies, metadata);
    api.drop(ServiceAccounts, metadata);
    putAll();
    await pass(1_000);
    expect(left()).toEqual(ALL);
    expect(run.log.lines.filter((l) => l.message === 'reconcile failed')).toEqual([]);
    api.release();
    for (const name of ['sweep-revisions', 'sweep-policies', 'sweep-accounts'])
      await run.until(`${name} has seen it`, async () =>
        (run.reconciles[`${name} wait`] ?? 0) > 1 ? true : undefined,
      );
    await run.settled();
    await pass(TEN_MINUTES - 1_000);
    expect(left()).toEqual(ALL);
    await pass(TEN_MINUTES);
    expect(left()).toEqual([]);
  });
});

it('policy and account of an Agent that is gone stay as long as a pod of it is left: without them it is open', async () => {
  api.put(Pods, {metadata: {name: 'carrel-one', namespace, labels}, spec: {containers: []}});
  const uids = () => [...api.list(NetworkPolicies), ...api.list(ServiceAccounts)].map((o) => o.metadata.uid);
  const before = uids();
  await start();
  for (let round = 0; round < 3; round++) await pass(TEN_MINUTES);
  expect(left()).toEqual(ALL.slice(1));
  // None was swept and made again: connections of that moment would live on.
  expect(uids()).toEqual(before);
  api.drop(Pods, {namespace, name: 'carrel-one'});
  await run.until('swept', async () => {
    await pass(TEN_MINUTES);
    return left().length === 0 ? true : undefined;
  });
});
