import type {Manifest} from '../../api/kube-object.ts';
import {ANNOTATION_STARTED_BY, MAX_NAME, uid8} from '../../api/meta.ts';
import type {Author, SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import {inputParts} from '../turn/input.ts';
import {identityOf} from './identity.ts';
import {ownedBySession, sessionLabels} from './volume.ts';

/** Name of a turn that the controller makes: short enough for a name, and only ever meant for one Session. */
export function madeTurnName(session: SessionObject, suffix: string): string {
  const tail = `-${uid8(session.metadata.uid)}-${suffix}`;
  return `${session.metadata.name.slice(0, MAX_NAME - tail.length)}${tail}`;
}

/** True when the first turn is still to be made from the prompt. */
export function wantsInitialTurn(session: SessionObject): boolean {
  return (session.spec.prompt ?? '') !== '' && session.status?.initialTurn === undefined;
}

/** The first turn of a Session. Takes the Session as read live: the cache keeps no prompts. */
export function initialTurn(session: SessionObject): Manifest<TurnObject> {
  return {
    metadata: {
      name: madeTurnName(session, 'first'),
      namespace: session.metadata.namespace,
      labels: sessionLabels(identityOf(session)),
      ownerReferences: [ownedBySession(identityOf(session))],
    },
    spec: {
      session: session.metadata.name,
      input: inputParts(session.spec.prompt ?? ''),
      author: authorOf(session),
      delivery: 'Queue',
    },
  };
}

/**
 * Who wrote the prompt: the Session that started this one by its own token, else its owner. That a Session belongs to another
 * does not make the other its author. Nobody is called Human without a stamped name.
 */
function authorOf({metadata, spec}: SessionObject): Author {
  const starter = metadata.annotations?.[ANNOTATION_STARTED_BY];
  if (starter !== undefined) return {kind: 'Agent', name: starter, session: starter};
  if (spec.owner === undefined) return {kind: 'System', name: 'unknown'};
  return {kind: spec.owner.startsWith('system:') ? 'System' : 'Human', name: spec.owner};
}
