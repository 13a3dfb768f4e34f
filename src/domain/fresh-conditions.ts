import {type ConditionState, setCondition} from '../api/condition-list.ts';
import type {Condition} from '../api/kube-object.ts';
import {cutBytes, MAX_MESSAGE_BYTES} from './status-size.ts';

/** A condition list made anew from `states`: what is not named is gone; transition times survive where the status is the same. */
export function freshConditions(
  before: readonly Condition[] | undefined,
  states: readonly ConditionState[],
  now: Date,
): Condition[] {
  let list: Condition[] = [];
  for (const state of states) {
    const old = before?.find((c) => c.type === state.type);
    const message = cutBytes(state.message, MAX_MESSAGE_BYTES);
    list = setCondition(old === undefined ? list : [...list, old], {...state, message}, now);
  }
  return list;
}
