import type {RunnerEvent} from '../../api/wire/runner.ts';
import type {TurnCode} from '../turn/codes.ts';
import {head} from './clean.ts';
import {describeExit, type Exit} from './exit.ts';

/** The end of a turn as events carry it. */
export type Finished = Extract<RunnerEvent, {type: 'turnFinished'}>;

/** How the request for a turn came back. */
export type TurnResult =
  | {kind: 'answered'; stopReason: string}
  | {kind: 'refused'; code: number; message: string}
  | {kind: 'exited'; exit: Exit}
  | {kind: 'unresponsive'}
  /** The pod was being ended. */
  | {kind: 'terminated'}
  /** The network policy was lost, so the agent was ended. */
  | {kind: 'notIsolated'; message: string}
  /** The agent did not stop within 10 s of being asked. */
  | {kind: 'killed'};

/** All that decides the outcome of a turn. */
export type TurnEvidence = {
  result: TurnResult;
  /** Who asked for the stop: a person through the API, or the limit of the turn. Remembered here, for agents say `end_turn`. */
  interrupt?: {by: 'request' | 'limit'; seconds?: number};
  sawText: boolean;
  sawToolCall: boolean;
  /** The most recent model call of this turn failed. Some agents hide it behind `end_turn`. */
  modelError?: {status: number; code: string; message: string};
};

type Outcome = Pick<Finished, 'phase' | 'stopReason' | 'error'>;

/** Phase, stop reason and error of a turn. */
export function turnOutcome(seen: TurnEvidence): Outcome {
  if (seen.interrupt?.by === 'request') return {phase: 'Interrupted', stopReason: 'Cancelled'};
  if (seen.interrupt?.by === 'limit') {
    const message = `the turn ran longer than limits.turn (${seen.interrupt.seconds ?? 0} s) and was interrupted; raise the limit or ask for less at once`;
    return {phase: 'Interrupted', stopReason: 'Cancelled', error: {code: 'turn_timeout' satisfies TurnCode, message}};
  }
  switch (seen.result.kind) {
    case 'exited': {
      const {code, message} = describeExit(seen.result.exit);
      const next =
        code === 'out_of_memory' ? '; raise resources.limits.memory of the Agent, or ask for less at once' : '';
      return failed(code, `${message} while it worked on the turn; it is not run again by itself${next}`);
    }
    case 'unresponsive':
      return failed('agent_unresponsive', 'the process beside the agent gave no sign of life for 15 s');
    case 'terminated':
      return failed(
        'outcome_unknown',
        'the pod was ended while the agent worked on the turn: look at transcript and workspace, then send it again if that is safe',
      );
    case 'notIsolated':
      return failed(
        'network_not_isolated',
        `the agent was ended, because ${seen.result.message}; look at the NetworkPolicies of the namespace, then send it again if that is safe`,
      );
    case 'killed':
      return {phase: 'Interrupted', stopReason: 'Cancelled'};
    case 'refused':
      if (seen.modelError !== undefined) return modelFailed(seen.modelError);
      return failed('agent_error', `the agent answered with error ${seen.result.code}: ${seen.result.message}`);
    case 'answered':
      return answered(seen.result.stopReason, seen);
  }
}

function answered(stopReason: string, seen: TurnEvidence): Outcome {
  switch (stopReason) {
    case 'end_turn':
      if (seen.modelError !== undefined) return {...modelFailed(seen.modelError), stopReason: 'EndTurn'};
      if (!seen.sawText && !seen.sawToolCall) {
        const message =
          'the agent ended the turn without a word and without a tool call; look at its log and its model';
        return {...failed('empty_turn', message), stopReason: 'EndTurn'};
      }
      return {phase: 'Completed', stopReason: 'EndTurn'};
    case 'max_tokens':
      return {phase: 'Completed', stopReason: 'MaxTokens'};
    case 'max_turn_requests':
      return {phase: 'Completed', stopReason: 'MaxRequests'};
    case 'refusal':
      return {...failed('refused', 'the model refused to go on'), stopReason: 'Refusal'};
    case 'cancelled':
      return {phase: 'Interrupted', stopReason: 'Cancelled'};
    default:
      return failed(
        'agent_error',
        `the agent ended the turn with the unknown stop reason ${JSON.stringify(stopReason)}`,
      );
  }
}

function modelFailed(error: {status: number; code: string; message: string}): Outcome {
  const status = error.status > 0 ? ` with HTTP ${error.status}` : '';
  return failed('model_error', `the last model call failed${status} (${error.code}): ${error.message}`);
}

function failed(code: TurnCode, message: string): Outcome {
  return {phase: 'Failed', error: {code, message: head(message, 1024)}};
}
