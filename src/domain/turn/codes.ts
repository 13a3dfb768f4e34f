/** Stable codes of `status.error` of a Turn; docs/kinds/turn.md says what each means. New ones are added here. */
export const TURN_CODES = [
  'agent_error',
  'agent_exited',
  'agent_killed',
  'agent_not_started',
  'agent_unresponsive',
  'empty_turn',
  'input_changed',
  'input_not_found',
  'input_too_large',
  'model_error',
  'network_not_isolated',
  'out_of_memory',
  'outcome_unknown',
  'queue_full',
  'refused',
  'report_refused',
  'session_closed',
  'session_replaced',
  'turn_timeout',
  'withdrawn',
] as const;
export type TurnCode = (typeof TURN_CODES)[number];
