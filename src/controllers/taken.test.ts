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
import {sharedName} from '../domain/agent/isolation.ts';
import {Events, NetworkPolicies, PersistentVolumeClaims, Pods, ServiceAccounts} from '../kube/builtin.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';

const namespace = 'team';
const uid = 'aaaaaaaa-0000-0000-0000-000000000000';
const FIRST = 'one-aaaaaaaa-first';
const CLAIM = 'carrel-one-aaaaaaaa';
let api: FakeApi;
let run: ControllerFixture;

beforeEach(async () => {
  api = await startFakeApi();
  putAddresses(api, namespace);
  run = await startControllers({connection: api.connection, namespace});
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

function publish(): void {
  const spec = {...revisionData().spec, image: AGENT_IMAGE};
  api.put(Agents, {metadata: {name: 'scribe', namespace, generation: 1, uid: 'agent-00-uid'}, spec});
}

function create(): void {
  publish();
  api.put(Sessions, {metadata: {name: 'one', namespace, uid, generation: 1}, spec: sessionSpec({prompt: 'hello'})});
}

/** A turn that says nothing of this Session but has the name of one that it needs. */
function squat(name: string): void {
  const spec = {session: 'other', input: [{text: 'mine'}], delivery: 'Queue' as const};
  api.put(Turns, {metadata: {name, namespace, generation: 1}, spec});
}

const ready = async () => (await run.session('one')).status?.conditions?.find((c) => c.type === 'Ready');

const told = () =>
  run.until('told', async () => {
    const now = await ready();
    return now?.reason === 'NameTaken' ? now : undefined;
  });

/** Events about the Session with this reason. */
async function sessionEvents(): Promise<string[]> {
  await run.settled();
  return api
    .list(Events)
    .flatMap((e) => (e.reason === 'NameTaken' && e.regarding.kind === 'Session' ? (e.note ?? '') : []));
}

/** Wakes the Session; the time of the retry would too, half a minute later. */
async function look(): Promise<void> {
  const {metadata, spec, status} = await run.session('one');
  const generation = (metadata.generation ?? 0) + 1;
  api.put(Sessions, {metadata: {...metadata, generation}, spec: {...spec, title: `look ${generation}`}, status});
}

describe("somebody else's object under a name that a session needs", () => {
  it('Turn: the prompt waits, it is told which one, and it goes on when that is gone', async () => {
    squat(FIRST);
    create();
    expect(await told()).toMatchObject({
      status: 'False',
      message: expect.stringContaining(`Turn ${FIRST} has the name`),
    });
    const pod = await run.until('pod all the same', async () => (await run.session('one')).status?.pod);
    expect(pod.name).toBe('carrel-one-aaaaaaaa-1');
    expect(await sessionEvents()).toEqual([expect.stringContaining(FIRST)]);
    expect(api.get(Turns, {namespace, name: FIRST})?.spec.session).toBe('other');
    api.drop(Turns, {namespace, name: FIRST});
    await look();
    await run.until('admitted', async () => (await run.session('one')).status?.admitted);
    expect((await ready())?.reason).not.toBe('NameTaken');
    expect(api.get(Turns, {namespace, name: FIRST})?.spec.input).toEqual([{text: 'hello'}]);
  });

  it('PersistentVolumeClaim: no attempt begins, nothing of it is used, and it goes on when that is gone', async () => {
    const spec = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}};
    api.put(PersistentVolumeClaims, {metadata: {name: CLAIM, namespace}, spec});
    create();
    expect((await told()).message).toContain(`PersistentVolumeClaim ${CLAIM} has the name of the volume`);
    const waiting = (await run.session('one')).status;
    expect(waiting?.phase).toBe('Pending');
    expect(waiting?.volume).toBeUndefined();
    expect(await sessionEvents()).toHaveLength(1);
    api.drop(PersistentVolumeClaims, {namespace, name: CLAIM});
    await look();
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect((await run.session('one')).status?.attempt).toBe(1);
  });

  it('ServiceAccount and NetworkPolicy: they are taken over, with what isolates the pods', async () => {
    const name = sharedName({name: 'scribe', uid: 'agent-00-uid'});
    api.put(ServiceAccounts, {metadata: {name, namespace}, automountServiceAccountToken: true});
    api.put(NetworkPolicies, {
      metadata: {name, namespace},
      spec: {podSelector: {}, egress: [{}], policyTypes: ['Egress']},
    });
    create();
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect(api.get(ServiceAccounts, {namespace, name})?.automountServiceAccountToken).toBe(false);
    expect(api.get(NetworkPolicies, {namespace, name})?.spec).toMatchObject({policyTypes: ['Ingress', 'Egress']});
  });

  it('a ServiceAccount that is being deleted: no pod is made with it, the session says what holds it, and goes on after', async () => {
    const name = sharedName({name: 'scribe', uid: 'agent-00-uid'});
    const metadata = {name, namespace, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.example/f']};
    api.put(ServiceAccounts, {metadata, automountServiceAccountToken: false});
    create();
    const waits = await run.until('told', async () => {
      const now = await ready();
      return now?.reason === 'ServiceAccountReplaced' ? now : undefined;
    });
    expect(waits.message).toContain('finalizers hold it: x.example/f');
    await run.settled();
    expect(api.list(Pods)).toEqual([]);
    api.drop(ServiceAccounts, {namespace, name});
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    expect((await run.session('one')).status?.attempt).toBe(1);
  });

  it('a policy that lets no NetworkPolicy be made: no pod is made without it, and the session says why', async () => {
    const message = 'admission webhook "no.example" denied the request: no policies here';
    api.fault = (request) =>
      request.method === 'PATCH' && request.path.includes('/networkpolicies/')
        ? {status: 403, body: {kind: 'Status', reason: 'Forbidden', message, code: 403}}
        : undefined;
    create();
    const failed = await run.until('told', async () => {
      const {status} = await run.session('one');
      return status?.phase === 'Failed' ? status : undefined;
    });
    expect(failed.conditions?.find((c) => c.type === 'Ready')?.message).toContain(message);
    expect(failed).toMatchObject({stoppedReason: 'PolicyDenied', attempt: 1});
    expect(api.list(Pods)).toEqual([]);
    expect(api.get(Agents, {namespace, name: 'scribe'})?.status?.publishedRevision).toBeDefined();
  });

  it('Turn of a late answer: the answer is kept, told at Question and Session, and sent when the name is free', async () => {
    create();
    await run.until('pod', async () => (await run.session('one')).status?.pod);
    squat('one-aaaaaaaa-answer-bbbbbbbb');
    const spec = {session: 'one', turn: 'gone', kind: 'Ask' as const, text: 'Which?', to: 'Owner' as const};
    const metadata = {name: 'q', namespace, uid: 'bbbbbbbb-0000', generation: 1};
    api.put(Questions, {metadata, spec: {...spec, answer: {text: 'this'}, answeredBy: 'ann'}});
    const question = () => api.get(Questions, {namespace, name: 'q'});
    const waits = await run.until('kept', async () =>
      question()?.status?.conditions?.find((c) => c.reason === 'NameTaken'),
    );
    expect(waits).toMatchObject({
      type: 'Reconciling',
      message: expect.stringContaining('one-aaaaaaaa-answer-bbbbbbbb'),
    });
    expect(question()?.status).toMatchObject({phase: 'Answered'});
    expect(question()?.status?.deliveredAt).toBeUndefined();
    expect(await sessionEvents()).toHaveLength(1);
    api.drop(Turns, {namespace, name: 'one-aaaaaaaa-answer-bbbbbbbb'});
    const kept = question();
    api.put(Questions, {...kept, metadata: {...kept?.metadata, generation: 2}, spec: kept?.spec ?? spec});
    await run.until('sent', async () => question()?.status?.deliveredAt);
    expect(question()?.status?.conditions?.map((c) => c.type)).toEqual(['Ready']);
    expect(api.get(Turns, {namespace, name: 'one-aaaaaaaa-answer-bbbbbbbb'})?.spec.session).toBe('one');
  });
});
