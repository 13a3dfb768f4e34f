import {describe, expect, test} from 'vitest';
import {type TurnEvidence, turnOutcome} from './outcome.ts';

const said: TurnEvidence = {result: {kind: 'answered', stopReason: 'end_turn'}, sawText: true, sawToolCall: false};
const answered = (stopReason: string) => ({kind: 'answered', stopReason}) as const;
const modelError = {status: 400, code: 'bad_request', message: 'no such model'};

describe('outcome of a turn', () => {
  test.each<[string, Partial<TurnEvidence>, string, string | undefined, string | undefined]>([
    ['words and end_turn', {}, 'Completed', 'EndTurn', undefined],
    ['a tool call without words', {sawText: false, sawToolCall: true}, 'Completed', 'EndTurn', undefined],
    ['end_turn without word or tool call', {sawText: false}, 'Failed', 'EndTurn', 'empty_turn'],
    ['end_turn with a failed model call behind it', {modelError}, 'Failed', 'EndTurn', 'model_error'],
    ['max_tokens', {result: answered('max_tokens')}, 'Completed', 'MaxTokens', undefined],
    ['max_turn_requests', {result: answered('max_turn_requests')}, 'Completed', 'MaxRequests', undefined],
    ['refusal', {result: answered('refusal')}, 'Failed', 'Refusal', 'refused'],
    ['cancelled by the agent itself', {result: answered('cancelled')}, 'Interrupted', 'Cancelled', undefined],
    ['a stop reason of the future', {result: answered('bored')}, 'Failed', undefined, 'agent_error'],
    ['asked to stop, says end_turn', {interrupt: {by: 'request'}}, 'Interrupted', 'Cancelled', undefined],
    [
      'asked to stop, answers an error',
      {interrupt: {by: 'request'}, result: {kind: 'refused', code: -32_800, message: 'x'}},
      'Interrupted',
      'Cancelled',
      undefined,
    ],
    [
      'asked to stop, was killed',
      {interrupt: {by: 'request'}, result: {kind: 'killed'}},
      'Interrupted',
      'Cancelled',
      undefined,
    ],
    ['beyond its limit', {interrupt: {by: 'limit', seconds: 5}}, 'Interrupted', 'Cancelled', 'turn_timeout'],
    ['an error', {result: {kind: 'refused', code: -32_603, message: 'boom'}}, 'Failed', undefined, 'agent_error'],
    [
      'an error because of the model',
      {result: {kind: 'refused', code: -32_603, message: 'boom'}, modelError},
      'Failed',
      undefined,
      'model_error',
    ],
    ['an exit', {result: {kind: 'exited', exit: {code: 1, outOfMemory: false}}}, 'Failed', undefined, 'agent_exited'],
    [
      'a signal',
      {result: {kind: 'exited', exit: {signal: 'SIGSEGV', outOfMemory: false}}},
      'Failed',
      undefined,
      'agent_killed',
    ],
    [
      'out of memory',
      {result: {kind: 'exited', exit: {signal: 'SIGKILL', outOfMemory: true}}},
      'Failed',
      undefined,
      'out_of_memory',
    ],
    ['a silent shim', {result: {kind: 'unresponsive'}}, 'Failed', undefined, 'agent_unresponsive'],
    [
      'a network that opened',
      {result: {kind: 'notIsolated', message: 'a policy was lost'}},
      'Failed',
      undefined,
      'network_not_isolated',
    ],
    ['a pod that is ended', {result: {kind: 'terminated'}}, 'Failed', undefined, 'outcome_unknown'],
  ])('%s', (_name, change, ...expected) => {
    const outcome = turnOutcome({...said, ...change});
    expect([outcome.phase, outcome.stopReason, outcome.error?.code]).toEqual(expected);
  });
});
