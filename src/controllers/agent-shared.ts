import type {ServiceAccount} from '../api/kube-core.ts';
import type {KubeObject} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import {LABEL_AGENT_UID} from '../api/meta.ts';
import {
  type AgentIdentity,
  buildNetworkPolicy,
  buildServiceAccount,
  type ReleasePods,
  sharedName,
} from '../domain/agent/isolation.ts';
import {canonicalJson} from '../domain/canonical.ts';
import {NetworkPolicies, Pods, ServiceAccounts} from '../kube/builtin.ts';
import type {AnyWatch, Key} from '../kube/controller-ports.ts';
import type {CachedReader, Client} from '../kube/ports.ts';
import {askedFor, wakeOn} from './wake.ts';

/**
 * Makes sure that ServiceAccount and NetworkPolicy of an Agent are there, before any of its pods: by server-side apply,
 * and only where the cache shows none or other content, so that a session costs no write here. The account as it is.
 */
export async function ensureAgentShared(
  {read, write}: {read: CachedReader; write: Client},
  agent: AgentIdentity,
  release: ReleasePods,
): Promise<ServiceAccount> {
  const ref = {namespace: agent.namespace, name: sharedName(agent)};
  const known = read.of(ServiceAccounts).get(ref);
  const good = known?.automountServiceAccountToken === false ? known : undefined;
  const account = good ?? (await write.apply(ServiceAccounts, buildServiceAccount(agent), {force: true}));
  const wanted = buildNetworkPolicy(agent, release);
  const policy = read.of(NetworkPolicies).get(ref);
  if (policy === undefined || !samePolicy(wanted.spec, policy.spec)) {
    await write.apply(NetworkPolicies, wanted, {force: true});
  }
  return account;
}

/** What wakes who keeps these objects: somebody who deletes or opens the policy of running pods finds it back at once. */
export function watchAgentShared(
  keys: (object: KubeObject, read: CachedReader) => readonly Key[],
  added: () => boolean = () => true,
): readonly AnyWatch[] {
  return [
    wakeOn({resource: NetworkPolicies, changed: askedFor, added, keys}),
    wakeOn<ServiceAccount>({
      resource: ServiceAccounts,
      changed: (old, now) => old.automountServiceAccountToken !== now.automountServiceAccountToken,
      added,
      keys,
    }),
  ];
}

/** Pods of the Agent of that UID, in that namespace. */
export function podsOfAgent(read: CachedReader, namespace: string | undefined, uid: string | undefined): Pod[] {
  if (uid === undefined) return [];
  const pods = read.of(Pods).list(namespace ?? '');
  return pods.filter((p) => p.metadata.labels?.[LABEL_AGENT_UID] === uid);
}

/** The server drops empty lists, so an empty ingress list and a missing one are the same. */
function samePolicy(a: {ingress?: unknown}, b: {ingress?: unknown}): boolean {
  return canonicalJson({...a, ingress: a.ingress ?? []}) === canonicalJson({...b, ingress: b.ingress ?? []});
}
