/** What became of an event: it changed what it should, or it changes nothing any more. */
export type Applied =
  | {readonly kind: 'applied'}
  | {readonly kind: 'dropped'; readonly reason: string; readonly why: string};

/** Done, now or by an earlier try. */
export const APPLIED: Applied = {kind: 'applied'};

/** The event is archived and changes no object: what it was about is gone, over or somebody else's. `why`: for people, where they are told. */
export function dropped(reason: string, why = reason): Applied {
  return {kind: 'dropped', reason, why};
}
