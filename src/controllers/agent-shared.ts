import {
  type AgentIdentity,
  buildNetworkPolicy,
  buildServiceAccount,
  type ReleasePods,
  sharedName,
} from '../domain/agent/isolation.ts';
import {canonicalJson} from '../domain/canonical.ts';
import {NetworkPolicies, ServiceAccounts} from '../kube/builtin.ts';
import type {CachedReader, Client} from '../kube/ports.ts';

/**
 * Makes sure that ServiceAccount and NetworkPolicy of an Agent are there, before any of its pods: by server-side apply,
 * and only where the cache shows none or other content, so that a session costs no write here.
 */
export async function ensureAgentShared(
  {read, write}: {read: CachedReader; write: Client},
  agent: AgentIdentity,
  release: ReleasePods,
): Promise<void> {
  const ref = {namespace: agent.namespace, name: sharedName(agent)};
  const account = read.of(ServiceAccounts).get(ref);
  if (account === undefined || account.automountServiceAccountToken !== false) {
    await write.apply(ServiceAccounts, buildServiceAccount(agent), {force: true});
  }
  const wanted = buildNetworkPolicy(agent, release);
  const policy = read.of(NetworkPolicies).get(ref);
  if (policy === undefined || !samePolicy(wanted.spec, policy.spec)) {
    await write.apply(NetworkPolicies, wanted, {force: true});
  }
}

/** The server drops empty lists, so an empty ingress list and a missing one are the same. */
function samePolicy(a: {ingress?: unknown}, b: {ingress?: unknown}): boolean {
  return canonicalJson({...a, ingress: a.ingress ?? []}) === canonicalJson({...b, ingress: b.ingress ?? []});
}
