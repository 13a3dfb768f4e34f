import type {Desired} from '../../api/wire/runner.ts';
import {jsonObject} from '../json-object.ts';

/** An answer as the gateway hands it over. */
export type Answer = Desired['answers'][number];

/** An option that the agent offered. */
export type Option = {id: string; label: string; kind?: string | undefined};

/** Reply to `session/request_permission`. */
export type PermissionReply = {outcome: 'selected'; optionId: string} | {outcome: 'cancelled'};

/** Reply to `elicitation/create`. */
export type ElicitationReply =
  | {action: 'accept'; content: Record<string, unknown>}
  | {action: 'decline'}
  | {action: 'cancel'};

/**
 * The option that was chosen; for an expired question, or an answer that names no option, the agent's own reject
 * option, never an approval.
 */
export function permissionReply(options: readonly Option[], answer: Answer | 'expired'): PermissionReply {
  if (answer !== 'expired' && answer.outcome === 'Withdrawn') return {outcome: 'cancelled'};
  const chosen =
    answer !== 'expired' && answer.outcome === 'Answered'
      ? options.find((option) => option.id === answer.option)
      : undefined;
  const option = chosen ?? rejectOption(options);
  return option === undefined ? {outcome: 'cancelled'} : {outcome: 'selected', optionId: option.id};
}

/** An answer that was given, but in words: the API refuses them, an older object may hold them. */
export function namesNone(options: readonly Option[], answer: Answer | 'expired'): answer is Answer {
  return (
    answer !== 'expired' && answer.outcome === 'Answered' && !options.some((option) => option.id === answer.option)
  );
}

function rejectOption(options: readonly Option[]): Option | undefined {
  return options.find((o) => o.kind === 'reject_once') ?? options.find((o) => o.kind === 'reject_always');
}

/** The form that was filled in; `decline` when it expired or is no JSON object. */
export function elicitationReply(answer: Answer | 'expired'): ElicitationReply {
  if (answer === 'expired' || answer.outcome === 'Expired') return {action: 'decline'};
  if (answer.outcome === 'Withdrawn') return {action: 'cancel'};
  if (answer.option === 'decline' || answer.option === 'cancel') return {action: answer.option};
  const content = jsonObject(answer.content);
  return content === undefined ? {action: 'decline'} : {action: 'accept', content};
}
