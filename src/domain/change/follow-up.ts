import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';

/** What becomes of a message to a session. */
export interface FollowUpPlan {
  /** How the Turn is delivered. */
  readonly delivery: 'Queue' | 'Interrupt';
  /** Told to the caller: `queued` behind the running turn, `delivered` at once, `interrupting` the running turn. */
  readonly outcome: 'queued' | 'delivered' | 'interrupting';
}

/**
 * Z-099, Z-100: running queues (or interrupts when forced); idle, asleep or waiting for input delivers; ended refuses.
 * A turn that waits for an answer would hold the message back, so the message ends it, as words at a prompt do.
 */
export function planFollowUp(session: SessionObject, force: boolean): FollowUpPlan {
  const {desired} = session.spec;
  const phase = session.status?.phase;
  const name = session.metadata.name;
  if (session.metadata.deletionTimestamp !== undefined) throw ended(name, 'is being deleted', 'start another session');
  if (phase === 'Failed') throw ended(name, 'failed', 'raise spec.restart to start it anew');
  if (phase === 'Archived' || desired === 'Archived')
    throw ended(name, 'is archived', 'set spec.desired to Active to bring it back');
  if (phase === 'Closed' || phase === 'Closing' || desired === 'Closed' || desired === 'Cancelled') {
    throw ended(name, 'is closed', 'start another session');
  }
  if (phase === 'NeedsInput') return {delivery: 'Interrupt', outcome: 'delivered'};
  const busy = phase === 'Running' || session.status?.activeTurn !== undefined;
  if (!busy) return {delivery: 'Queue', outcome: phase === 'Idle' || phase === 'Sleeping' ? 'delivered' : 'queued'};
  return force ? {delivery: 'Interrupt', outcome: 'interrupting'} : {delivery: 'Queue', outcome: 'queued'};
}

function ended(name: string, how: string, next: string): Refusal {
  return new Refusal('session_closed', `Session "${name}" ${how} and takes no messages; ${next}.`);
}
