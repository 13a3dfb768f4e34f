import {done, type Outcome, stalled} from '../api/outcome.ts';
import {Turn, type TurnObject} from '../api/v1alpha1/index.ts';
import {conditionEvents} from '../domain/condition-events.ts';
import {sessionMissingConditions} from '../domain/turn/conditions.ts';
import {isTerminal, observedEdit} from '../domain/turn/status.ts';
import {defineController} from '../kube/controller.ts';
import type {ControllerDefinition, ReconcileInput} from '../kube/controller-ports.ts';
import {Sessions, Turns} from '../kube/kinds.ts';
import {writeStatus} from '../kube/status.ts';
import {INDEX, within} from './caches.ts';
import {ifThere} from './if-there.ts';
import {askedFor, matters, wakeOn} from './wake.ts';

/** Tells turns without a Session that they wait for one. All others belong to the Session controller, which owns the queue. */
export function turnController(): ControllerDefinition {
  return defineController({
    name: 'turn',
    resource: Turns,
    workers: 2,
    wakes: (change) => matters(change, askedFor) && change.new !== undefined && concerns(change.new),
    watches: [
      wakeOn({
        resource: Sessions,
        changed: (old, now) => old.metadata.uid !== now.metadata.uid,
        keys: (session, read) =>
          // Only a Session that is gone leaves turns behind; one that comes looks after them itself.
          read.of(Sessions).get(session.metadata) !== undefined
            ? []
            : read
                .of(Turns)
                .byIndex(INDEX.session, within(session.metadata.namespace, session.metadata.name))
                .filter(concerns)
                .map((t) => ({namespace: t.metadata.namespace ?? '', name: t.metadata.name})),
      }),
    ],
    reconcile: reconcileTurn,
  });
}

/** A turn that ended is looked at for late edits; one that waits or runs, only if it goes with no Session. */
function concerns(turn: TurnObject): boolean {
  return isTerminal(turn) ? observedEdit(turn) !== undefined : !hasSession(turn);
}

/** A turn that belongs to a Session goes with it: it is not left behind, only not collected yet. */
function hasSession({metadata}: TurnObject): boolean {
  return metadata.ownerReferences?.some((o) => o.kind === 'Session') === true;
}

async function reconcileTurn({object: turn, read, write, now, events}: ReconcileInput<TurnObject>): Promise<Outcome> {
  if (turn.metadata.deletionTimestamp !== undefined) return done;
  if (isTerminal(turn)) {
    const status = observedEdit(turn);
    if (status !== undefined) await ifThere(writeStatus({write, resource: Turns, object: turn, status}));
    return done;
  }
  if (hasSession(turn)) return done;
  const ref = {namespace: turn.metadata.namespace, name: turn.spec.session};
  // Both may have been created in one go: the caches of two kinds do not keep step.
  if (read.of(Sessions).get(ref) !== undefined || (await write.find(Sessions, ref)) !== undefined) return done;
  const conditions = sessionMissingConditions(turn, now);
  const status = {...turn.status, observedGeneration: turn.metadata.generation ?? 0, conditions};
  await writeStatus({write, resource: Turns, object: turn, status});
  for (const event of conditionEvents(Turn.conditions, turn.status?.conditions, conditions)) {
    events.record({regarding: turn, action: 'Report', ...event});
  }
  return stalled('SessionNotFound');
}
