import type {TurnObject} from '../../api/v1alpha1/index.ts';
import {isTerminal} from './status.ts';

/** Ended turns beyond the limit, oldest first. A turn whose end is not in the archive is kept, whatever the limit says. */
export function beyondHistory(turns: readonly TurnObject[], limit: number): TurnObject[] {
  const ended = turns.filter((t) => isTerminal(t) && t.metadata.deletionTimestamp === undefined);
  const oldestFirst = ended.sort(
    (a, b) => endOf(a) - endOf(b) || (a.status?.sequence ?? 0) - (b.status?.sequence ?? 0),
  );
  return oldestFirst.slice(0, Math.max(0, ended.length - limit)).filter((t) => t.status?.archived === true);
}

function endOf(turn: TurnObject): number {
  return Date.parse(turn.status?.finishedAt ?? turn.metadata.creationTimestamp) || 0;
}
