import type {Manifest, OwnerReference} from '../../api/kube-object.ts';
import {API_VERSION, LABEL_SESSION, LABEL_SESSION_UID} from '../../api/meta.ts';
import type {SessionObject, TurnObject, TurnSpec} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';

/** Characters of one part, and of all parts together, as the schema of Turn has them. */
const PART = 16_384;
const WHOLE = 65_536;

/** What a new Turn says. */
export interface TurnContent {
  readonly name: string;
  readonly text: string;
  readonly goal?: string | undefined;
  readonly delivery: 'Queue' | 'Interrupt';
  readonly author: NonNullable<TurnSpec['author']>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The Turn to create for a message to this Session. */
export function buildTurn(session: SessionObject, content: TurnContent): Manifest<TurnObject> {
  return {
    metadata: {
      name: content.name,
      namespace: session.metadata.namespace,
      labels: childLabels(session),
      ...(content.annotations === undefined ? {} : {annotations: content.annotations}),
      ownerReferences: [ownedBy(session)],
    },
    spec: {
      session: session.metadata.name,
      input: splitText(content.text),
      author: content.author,
      delivery: content.delivery,
      ...(content.goal === undefined ? {} : {goal: content.goal}),
    },
  };
}

/** Text in parts that fit the schema; a surrogate pair is never cut in two. */
export function splitText(text: string): {text: string}[] {
  if (text.length > WHOLE || Buffer.byteLength(text) > WHOLE) {
    throw new Refusal('input_too_large', `The text has ${Buffer.byteLength(text)} bytes; at most ${WHOLE} are taken. Put it into a file or shorten it.`);
  }
  const parts: {text: string}[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PART, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    parts.push({text: text.slice(at, end)});
    at = end;
  }
  return parts;
}

/** Labels of everything that belongs to a Session. */
export function childLabels(session: SessionObject): Record<string, string> {
  return {[LABEL_SESSION]: session.metadata.name, [LABEL_SESSION_UID]: session.metadata.uid};
}

/** Owner reference to a Session; it never blocks the owner's deletion. */
export function ownedBy(session: SessionObject): OwnerReference {
  const {name, uid} = session.metadata;
  return {apiVersion: API_VERSION, kind: 'Session', name, uid, controller: true, blockOwnerDeletion: false};
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
