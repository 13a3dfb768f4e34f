import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {NetworkPolicies, Pods, ServiceAccounts} from '../../../src/kube/builtin.ts';
import {Agents} from '../../../src/kube/kinds.ts';
import {makePlace, type Place} from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await makePlace('isolation');
});
afterAll(async () => {
  await place.remove();
});

/** The one policy of ours in the namespace. */
async function policy() {
  const all = (await place.client.list(NetworkPolicies, {namespace: place.namespace})).items;
  return all.find((p) => p.metadata.name.startsWith('carrel-'));
}

/** Deletes, then opens the policy; each time it must come back as it was. */
async function mended(): Promise<void> {
  const made = await place.until('made', policy);
  const {name, uid} = made.metadata;
  await place.kubectl('delete', 'networkpolicy', name);
  const again = await place.until('made again', async () => {
    const now = await policy();
    return now === undefined || now.metadata.uid === uid ? undefined : now;
  });
  expect(again.spec).toEqual(made.spec);
  await place.kubectl('patch', 'networkpolicy', name, '--type=merge', '-p', JSON.stringify({spec: {egress: [{}]}}));
  await place.until('closed again', async () =>
    JSON.stringify((await policy())?.spec) === JSON.stringify(made.spec) ? true : undefined,
  );
}

describe('the NetworkPolicy of an Agent', () => {
  it('that somebody deletes or opens comes back at once', async () => {
    await mended();
  });

  it('a ServiceAccount that somebody deletes comes back, and an idle pod whose tokens are void by that goes: its session sleeps', async () => {
    const before = await place.idle('voided');
    const {namespace} = place;
    const pod = await place.client.get(Pods, {namespace, name: before.status?.pod?.name ?? ''});
    await place.kubectl('delete', 'serviceaccount', pod.spec.serviceAccountName ?? '');
    const after = await place.sessionIs('voided', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
    expect(after.status?.attempt).toBe(1);
    expect(after.status?.timeline?.at(-1)?.note).toMatch(
      /^ServiceAccountReplaced: .* made again, which voids the tokens of pod .*$/,
    );
    await place.kubectl('delete', 'sessions.carrel.dev', 'voided');
  });

  it('comes back also when the Agent is gone and a pod of it is left, and so does its ServiceAccount', async () => {
    await place.idle('one', {prompt: 'hello'});
    await place.kubectl('delete', 'agents.carrel.dev', 'scribe', '--timeout=60s');
    expect(await place.client.find(Agents, {namespace: place.namespace, name: 'scribe'})).toBeUndefined();
    await mended();
    const name = (await policy())?.metadata.name ?? '';
    await place.kubectl('delete', 'serviceaccount', name);
    await place.until('made again', async () => {
      const accounts = await place.client.list(ServiceAccounts, {namespace: place.namespace});
      return accounts.items.find((account) => account.metadata.name === name);
    });
  });
});
