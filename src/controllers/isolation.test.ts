import {afterEach, beforeEach, expect, it} from 'vitest';
import {type ControllerFixture, startControllers} from '../../test/support/controller-fixture.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {LABEL_AGENT, LABEL_AGENT_UID, LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import {sharedName} from '../domain/agent/isolation.ts';
import {NetworkPolicies, Pods} from '../kube/builtin.ts';

const namespace = 'team';
const agent = {name: 'scribe', uid: 'agent-00-uid'};
const policy = {namespace, name: sharedName(agent)};
let api: FakeApi;
let run: ControllerFixture;

beforeEach(async () => {
  api = await startFakeApi();
  const labels = {[LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_AGENT]: agent.name, [LABEL_AGENT_UID]: agent.uid};
  for (const name of ['a', 'b']) api.put(Pods, {metadata: {name, namespace, labels}, spec: {containers: []}});
  run = await startControllers({connection: api.connection, namespace});
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

const present = async () => api.get(NetworkPolicies, policy);
const failedFor = (pod: string) => async () =>
  run.log.lines.some((l) => JSON.stringify(l.fields).includes(`"${namespace}/${pod}"`)) ? true : undefined;

it('the policy of pods whose Agent is gone comes back, also when the pod that was woken for all of them goes first', async () => {
  await run.until('made', present);
  await run.settled();
  api.fault = ({method, path}) =>
    method === 'PATCH' && path.includes('networkpolicies') ? {status: 400, body: {}} : undefined;
  api.drop(NetworkPolicies, policy);
  await run.until('a try for the first pod', failedFor('a'));
  expect(await failedFor('b')()).toBeUndefined();
  api.drop(Pods, {namespace, name: 'a'});
  await run.until('a try for the other pod', failedFor('b'));
  api.fault = () => undefined;
  await run.until('made again', present);
});
