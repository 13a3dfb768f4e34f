import type {TurnObject} from '../../api/v1alpha1/index.ts';

/** A queued turn with the number it was given at admission. */
export interface QueuedTurn {
  turn: TurnObject;
  sequence: number;
}

/**
 * The order in which queued turns run: promoted ones first, the newest promotion before older ones, then by admission.
 * A turn with delivery Interrupt counts as promoted when it was made, so that it goes to the front.
 */
export function inOrder(queued: readonly QueuedTurn[]): QueuedTurn[] {
  return [...queued].sort((a, b) => rank(b.turn) - rank(a.turn) || a.sequence - b.sequence);
}

function rank(turn: TurnObject): number {
  const interrupt = turn.spec.delivery === 'Interrupt' ? Date.parse(turn.metadata.creationTimestamp) : 0;
  const promoted = turn.spec.promotedAt === undefined ? 0 : Date.parse(turn.spec.promotedAt);
  return Math.max(interrupt || 0, promoted || 0);
}
