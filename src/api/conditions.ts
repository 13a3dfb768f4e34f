/** One condition type of a kind: when it is true, and whether true is the normal state. */
export interface ConditionType {
  /** `normal`: True is good and the condition is always present. `abnormal`: True is bad and it is absent when false. */
  polarity: 'normal' | 'abnormal';
  /** One sentence for the reference page: what True means. */
  means: string;
}

/** One reason of a kind; each reason that is a change has its Event. */
export interface ReasonEntry {
  /** One sentence for the reference page: what happened and what to do next. */
  means: string;
  /** Type of the Event that is sent when a condition takes this reason; `none` for steps nobody needs to hear of. */
  event: 'Normal' | 'Warning' | 'none';
}

/** All conditions and reasons of a kind, as data: the reference page is generated from it, an unknown reason does not compile. */
export interface ConditionSet<Type extends string = string, Reason extends string = string> {
  types: Record<Type, ConditionType>;
  reasons: Record<Reason, ReasonEntry>;
}

/** Declares the conditions of a kind. An identity function: it exists for inference. */
export function defineConditions<Type extends string, Reason extends string>(
  set: ConditionSet<Type, Reason>,
): ConditionSet<Type, Reason> {
  return set;
}

export type TypeOf<S> = S extends ConditionSet<infer T, string> ? T : never;
export type ReasonOf<S> = S extends ConditionSet<string, infer R> ? R : never;
