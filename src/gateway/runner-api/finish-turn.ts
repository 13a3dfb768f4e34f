import {wholeSeconds} from '../../api/condition-list.ts';
import type {ObjectRef} from '../../api/kube-object.ts';
import {TURN_TERMINAL, type TurnStatus} from '../../api/v1alpha1/index.ts';
import type {RunnerEvent} from '../../api/wire/runner.ts';
import {sizedEnd} from '../../domain/status-size.ts';
import type {TurnCode} from '../../domain/turn/codes.ts';
import {endConditions} from '../../domain/turn/conditions.ts';
import {isApiError} from '../../kube/errors.ts';
import {Turns} from '../../kube/kinds.ts';
import type {Client, PatchOp} from '../../kube/ports.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';

/** The end of a turn as a runner reports it. */
export type Finished = Extract<RunnerEvent, {type: 'turnFinished'}>;

/** Which turn ends, and who may end it. */
export interface Ending {
  readonly ref: ObjectRef;
  readonly turnUid: string;
  /** The turn must have been handed to this pod. */
  readonly podUid: string;
}

/**
 * Write the final phase of a turn. The store decides: the patch holds only while the turn is Running in this very pod, so
 * of two finishers one wins and an earlier attempt never does. Throws ApiError when the outcome is not known.
 */
export async function finishTurn(
  client: Pick<Client, 'patchStatusJson' | 'find'>,
  ending: Ending,
  status: TurnStatus,
): Promise<Applied> {
  const tests = {'/status/podUID': ending.podUid, '/status/phase': 'Running'};
  const sized = sizedEnd(status);
  const ops: PatchOp[] = Object.entries({...sized, conditions: endConditions(sized)})
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => ({op: 'add', path: `/status/${field}`, value}));
  // Whoever asked the turn to stop has raised the generation: an end that does not name it is never seen by `kubectl wait`.
  ops.push({op: 'copy', from: '/metadata/generation', path: '/status/observedGeneration'});
  try {
    await client.patchStatusJson(Turns, ending.ref, {uid: ending.turnUid, tests, ops});
    return APPLIED;
  } catch (error) {
    if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return dropped('turn_gone');
    if (isApiError(error, 'TestFailed')) return judge(client, ending, status);
    if (isApiError(error, 'Invalid') && status.error?.code !== REFUSED)
      return finishTurn(client, ending, refused(status));
    throw error;
  }
}

const REFUSED: TurnCode = 'report_refused';

// A turn must never hang because its report breaks the schema.
function refused({finishedAt}: TurnStatus): TurnStatus {
  const message = 'the API server refused the report of the runner; the transcript holds it';
  return {phase: 'Failed', error: {code: REFUSED, message}, finishedAt, archived: true};
}

async function judge(client: Pick<Client, 'find'>, ending: Ending, status: TurnStatus): Promise<Applied> {
  const live = await client.find(Turns, ending.ref);
  if (live === undefined || live.metadata.uid !== ending.turnUid) return dropped('turn_gone');
  const ours = live.status?.podUID === ending.podUid;
  if (ours && live.status?.phase === status.phase) return APPLIED;
  return dropped(TURN_TERMINAL.some((phase) => phase === live.status?.phase) ? 'turn_over' : 'turn_not_ours');
}

/** Status of a turn whose end was reported and archived. Its conditions follow from it. */
export function finishedStatus(event: Finished, now: Date): TurnStatus {
  const at = new Date(event.finishedAt);
  return {
    phase: event.phase,
    stopReason: event.stopReason,
    response: event.response,
    error: event.error,
    usage: event.usage === undefined ? undefined : countable(event.usage),
    // A report from the future would end the turn before it is over in every list.
    finishedAt: wholeSeconds(Number.isNaN(at.getTime()) || at > now ? now : at),
    archived: true,
  };
}

function countable(usage: NonNullable<Finished['usage']>): NonNullable<TurnStatus['usage']> {
  const within = Object.entries(usage).filter(([, n]) => n !== undefined && n >= 0 && n <= Number.MAX_SAFE_INTEGER);
  return Object.fromEntries(within);
}
