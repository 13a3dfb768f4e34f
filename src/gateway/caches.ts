import type {ControllerRevision} from '../api/kube-core.ts';
import {LABEL_MANAGED_BY, MANAGED_BY} from '../api/meta.ts';
import type {AgentObject, QuestionObject, SessionObject, TurnObject} from '../api/v1alpha1/index.ts';
import {ControllerRevisions} from '../kube/builtin.ts';
import {Agents, Questions, Sessions, Turns} from '../kube/kinds.ts';
import type {Cache, Caches} from '../kube/ports.ts';

/** Names of the indexes of the gateway's caches. */
export const INDEX = {
  /** Sessions by `status.pod.uid`. */
  podUid: 'podUid',
  /** Sessions by their own UID. */
  uid: 'uid',
  /** Sessions by `spec.requester.uid`: the children of a Session. */
  parentUid: 'parentUid',
  /** Turns and Questions by `<namespace>/<session name>`. */
  session: 'session',
} as const;

/** The gateway's caches: bodies that are never shown from here are dropped. */
export interface GatewayCaches {
  readonly agents: Cache<AgentObject>;
  readonly sessions: Cache<SessionObject>;
  readonly turns: Cache<TurnObject>;
  readonly questions: Cache<QuestionObject>;
  readonly revisions: Cache<ControllerRevision>;
}

/** A person's words are shown in `Human Messages`, up to this many characters; read live for the whole. */
const HUMAN_EXCERPT = 2_000;

/** Register everything the gateway caches; call before `caches.start()`. */
export function addGatewayCaches(caches: Caches): GatewayCaches {
  return {
    agents: caches.add(Agents, {prune: ({spec: {files: _f, instructions: _i, ...spec}, ...rest}) => ({...rest, spec})}),
    sessions: caches.add(Sessions, {
      prune: ({spec: {prompt: _p, ...spec}, ...rest}) => ({...rest, spec}),
      indexes: {
        [INDEX.podUid]: (s) => keys(s.status?.pod?.uid),
        [INDEX.uid]: (s) => [s.metadata.uid],
        [INDEX.parentUid]: (s) => keys(s.spec.requester?.uid),
      },
    }),
    turns: caches.add(Turns, {prune: pruneTurn, indexes: {[INDEX.session]: (t) => [ofSession(t)]}}),
    questions: caches.add(Questions, {indexes: {[INDEX.session]: (q) => [ofSession(q)]}}),
    revisions: caches.add(ControllerRevisions, {labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY}`}),
  };
}

/** Key of the `session` index. */
export function sessionKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

function ofSession(o: TurnObject | QuestionObject): string {
  return sessionKey(o.metadata.namespace, o.spec.session);
}

function pruneTurn(turn: TurnObject): TurnObject {
  const human = turn.spec.author?.kind === 'Human';
  const input = human ? turn.spec.input.map((p) => (p.text === undefined ? p : {...p, text: cut(p.text)})) : [];
  return {...turn, spec: {...turn.spec, input}};
}

function cut(text: string): string {
  return text.length <= HUMAN_EXCERPT ? text : `${text.slice(0, HUMAN_EXCERPT)} [...]`;
}

function keys(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}
