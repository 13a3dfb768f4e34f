import type {SessionObject} from '../../../api/v1alpha1/index.ts';
import {authorOf, principalOf} from '../../../domain/access/caller.ts';
import {planFollowUp} from '../../../domain/change/follow-up.ts';
import {idempotencyRecord, madeBySameCall} from '../../../domain/change/idempotency.ts';
import {childName, keyedSuffix} from '../../../domain/change/names.ts';
import {buildTurn} from '../../../domain/change/turn.ts';
import {Refusal} from '../../../domain/refusal.ts';
import type {ToolCall} from '../../tool.ts';

const FAMILY = 'follow_up';

/** A message to a session. */
export interface Message {
  readonly text: string;
  readonly force: boolean;
  readonly goal?: string | undefined;
  readonly key?: string | undefined;
}

/** What happened to it. */
export interface Sent {
  readonly turn: string;
  readonly outcome: string;
  readonly replayed: boolean;
}

/**
 * Send a message: the rule of `planFollowUp` as one created Turn. A goal becomes the goal of the Session first (Z-101), so that a
 * repeat after a crash in between sets it again; it stands on the Turn too, so that the turn never starts with the old one.
 */
export async function followUp(
  call: Omit<ToolCall<unknown>, 'input'>,
  session: SessionObject,
  message: Message,
): Promise<Sent> {
  const {caller, namespace, store} = call;
  const {text, force, key} = message;
  const goal = message.goal?.trim() === '' ? undefined : message.goal;
  const {uid} = session.metadata;
  const record = idempotencyRecord(FAMILY, principalOf(caller), {text, goal, force});
  const name = childName(
    session.metadata,
    key === undefined ? call.random() : keyedSuffix([namespace, FAMILY, uid, key]),
  );
  if (key !== undefined) {
    const earlier = store.turns(namespace, session.metadata.name).find((t) => t.metadata.name === name);
    if (earlier !== undefined) return replay(madeBySameCall(earlier, record), name);
  }
  const plan = planFollowUp(session, force);
  const manifest = buildTurn(session, {
    name,
    text,
    goal,
    delivery: plan.delivery,
    author: authorOf(caller, call.channel),
    annotations: key === undefined ? undefined : record,
  });
  if (goal !== undefined && goal !== session.spec.goal) await store.patchSession(session, {goal});
  const {object, created} = await store.createTurn(manifest);
  if (!created && key !== undefined) return replay(madeBySameCall(object, record), name);
  return {turn: name, outcome: plan.outcome, replayed: false};
}

function replay(same: boolean, turn: string): Sent {
  if (!same)
    throw new Refusal(
      'idempotency_conflict',
      'This idempotency_key was used by another caller or for another message; use a fresh random UUID.',
    );
  return {turn, outcome: 'accepted before', replayed: true};
}
