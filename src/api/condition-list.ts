import type {Condition} from './kube-object.ts';

/** A condition as a plan states it; the transition time is worked out by `setCondition`. */
export type ConditionState = Omit<Condition, 'lastTransitionTime'>;

/** Add or replace one condition: keeps `lastTransitionTime` while status stays the same; the result is sorted by type. */
export function setCondition(list: readonly Condition[] | undefined, next: ConditionState, now: Date): Condition[] {
  const old = list?.find((c) => c.type === next.type);
  const kept = old !== undefined && old.status === next.status;
  const lastTransitionTime = kept ? old.lastTransitionTime : wholeSeconds(now);
  return sortConditions([...(list ?? []).filter((c) => c.type !== next.type), {...next, lastTransitionTime}]);
}

/** Remove one condition; abnormal-true conditions are absent when false. */
export function clearCondition(list: readonly Condition[] | undefined, type: string): Condition[] {
  return sortConditions((list ?? []).filter((c) => c.type !== type));
}

/** Find one condition by type. */
export function getCondition(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((c) => c.type === type);
}

/** True when the condition exists with status True. */
export function isTrue(list: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(list, type)?.status === 'True';
}

/** RFC 3339 with whole seconds, the form of `metav1.Time`. */
export function wholeSeconds(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

function sortConditions(list: readonly Condition[]): Condition[] {
  return [...list].sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
}
