import {LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import type {QuestionObject, SessionObject, TurnObject} from '../api/v1alpha1/index.ts';
import {withoutBody} from '../domain/turn/input.ts';
import {
  ControllerRevisions,
  NetworkPolicies,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  ServiceAccounts,
} from '../kube/builtin.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {Caches} from '../kube/ports.ts';
import {ClusterAddresses} from './cluster-ip.ts';

/** Names of the indexes of the controller's caches. */
export const INDEX = {
  /** Turns and Questions by `<namespace>/<session>`, Sessions by `<namespace>/<agent>`. */
  session: 'session',
  agent: 'agent',
  /** Questions by `<namespace>/<turn>`. */
  turn: 'turn',
  /** Pods by the UID of the Session that owns them, and by node. */
  owner: 'owner',
  node: 'node',
} as const;

/** Key of an index: a name within a namespace. */
export function within(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** What the controllers look at. */
export interface CacheScope {
  releaseNamespace: string;
  /** Only objects of this namespace; all of the cluster if absent. */
  namespace?: string;
}

/** Register everything that the controllers read; call before `caches.start()`. Bodies are dropped: they are read live. */
export function addControllerCaches(caches: Caches, {releaseNamespace, namespace}: CacheScope): void {
  const ours = {namespace, labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY}`};
  caches.add(Agents, {namespace});
  caches.add(Sessions, {
    namespace,
    prune: withoutPrompt,
    indexes: {[INDEX.agent]: (s) => [within(s.metadata.namespace, s.spec.agent)]},
  });
  const bySession = (o: TurnObject | QuestionObject) => [within(o.metadata.namespace, o.spec.session)];
  caches.add(Turns, {namespace, prune: withoutBody, indexes: {[INDEX.session]: bySession}});
  caches.add(Questions, {
    namespace,
    indexes: {[INDEX.session]: bySession, [INDEX.turn]: (q) => [within(q.metadata.namespace, q.spec.turn)]},
  });
  caches.add(Pods, {
    ...ours,
    indexes: {
      [INDEX.owner]: (p) => (p.metadata.ownerReferences ?? []).map((o) => o.uid),
      [INDEX.node]: (p) => (p.spec.nodeName === undefined ? [] : [p.spec.nodeName]),
    },
  });
  caches.add(PersistentVolumeClaims, ours);
  caches.add(ControllerRevisions, ours);
  caches.add(ServiceAccounts, ours);
  caches.add(NetworkPolicies, ours);
  caches.add(Nodes);
  caches.add(ClusterAddresses, {namespace: releaseNamespace});
}

/** One character is kept: it tells that there is a prompt. */
function withoutPrompt(session: SessionObject): SessionObject {
  const {prompt, notes: _notes, ...spec} = session.spec;
  return {...session, spec: prompt === undefined ? spec : {...spec, prompt: prompt.slice(0, 1)}};
}
