import type {Manifest, OwnerReference} from '../../api/kube-object.ts';
import type {SessionObject, TurnObject, TurnSpec} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';
import {identityOf} from '../session/identity.ts';
import {ownedBySession, sessionLabels} from '../session/volume.ts';
import {inputParts, MAX_INPUT_BYTES} from '../turn/input.ts';

/** What a new Turn says. */
export interface TurnContent {
  readonly name: string;
  readonly text: string;
  readonly goal?: string | undefined;
  readonly delivery: 'Queue' | 'Interrupt';
  readonly author: NonNullable<TurnSpec['author']>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The Turn to create for a message to this Session; refuses a text that no Turn can hold. */
export function buildTurn(session: SessionObject, content: TurnContent): Manifest<TurnObject> {
  refuseTooLarge(content.text);
  const identity = identityOf(session);
  return {
    metadata: {
      name: content.name,
      namespace: identity.namespace,
      labels: childLabels(session),
      ...(content.annotations === undefined ? {} : {annotations: content.annotations}),
      ownerReferences: [ownedBy(session)],
    },
    spec: {
      session: identity.name,
      input: inputParts(content.text),
      author: content.author,
      delivery: content.delivery,
      ...(content.goal === undefined ? {} : {goal: content.goal}),
    },
  };
}

/** Refuses a text with more bytes than any Turn can hold; the schemas count characters. */
export function refuseTooLarge(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_INPUT_BYTES) return;
  const most = `The text has ${bytes} bytes; at most ${MAX_INPUT_BYTES} are taken.`;
  throw new Refusal(
    'input_too_large',
    `${most} Shorten it, or put it into a ConfigMap and create the Turn with input[].from.`,
  );
}

/** Labels of everything that belongs to a Session. */
export function childLabels(session: SessionObject): Record<string, string> {
  return sessionLabels(identityOf(session));
}

/** Owner reference to a Session; it never blocks the owner's deletion. */
export function ownedBy(session: SessionObject): OwnerReference {
  return ownedBySession(identityOf(session));
}
