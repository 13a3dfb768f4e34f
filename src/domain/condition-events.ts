import type {ConditionSet} from '../api/conditions.ts';
import type {Condition} from '../api/kube-object.ts';

/** An Event that a change of conditions asks for. */
export interface ConditionEvent<Reason extends string> {
  type: 'Normal' | 'Warning';
  reason: Reason;
  note: string;
}

/**
 * Events of a change of conditions, as the kind's data says: one for each reason that no condition had before. Conditions
 * are abnormal-true except Ready, whose reason counts whatever its status is.
 */
export function conditionEvents<Reason extends string>(
  {reasons}: Pick<ConditionSet<string, Reason>, 'reasons'>,
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): ConditionEvent<Reason>[] {
  const had = new Set((before ?? []).map((c) => c.reason));
  const events: ConditionEvent<Reason>[] = [];
  for (const {type, status, reason, message} of after ?? []) {
    if (had.has(reason) || (type !== 'Ready' && status !== 'True') || !isKnown(reasons, reason)) continue;
    had.add(reason);
    const entry = reasons[reason];
    if (entry.event !== 'none') events.push({type: entry.event, reason, note: message});
  }
  return events;
}

function isKnown<Reason extends string>(reasons: Record<Reason, unknown>, reason: string): reason is Reason {
  return Object.hasOwn(reasons, reason);
}
