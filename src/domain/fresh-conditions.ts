import {type ConditionState, setCondition} from '../api/condition-list.ts';
import type {Condition} from '../api/kube-object.ts';

const LONGEST = 1_024;

/** A condition list made anew from `states`: what is not named is gone; transition times survive where the status is the same. */
export function freshConditions(
  before: readonly Condition[] | undefined,
  states: readonly ConditionState[],
  now: Date,
): Condition[] {
  let list: Condition[] = [];
  for (const state of states) {
    const old = before?.find((c) => c.type === state.type);
    const message = state.message.length <= LONGEST ? state.message : `${state.message.slice(0, LONGEST - 3)}...`;
    list = setCondition(old === undefined ? list : [...list, old], {...state, message}, now);
  }
  return list;
}
