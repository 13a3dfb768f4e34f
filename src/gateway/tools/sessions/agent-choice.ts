import {firstFew} from '../../../domain/first-few.ts';
import {Refusal} from '../../../domain/refusal.ts';
import type {ToolCall} from '../../tool.ts';

/** Names said in one message. */
const MAX_NAMES = 20;

type Asking = Omit<ToolCall<unknown>, 'input'>;

/** Tools that sessions of these groups would have and the caller has not: a child never has more than its parent. */
export function toolsBeyond(call: Pick<Asking, 'toolsOf' | 'allowedTools'>, groups: readonly string[]): string[] {
  return [...call.toolsOf(groups)].filter((tool) => !call.allowedTools.has(tool));
}

/**
 * The refusal for an Agent that is not there, with the names that would do (Z-079): for a session those that it could start,
 * for everybody else those that the right to list Agents shows anyway.
 */
export async function agentNotFound(call: Asking, name: string): Promise<Refusal> {
  const {caller, namespace, store} = call;
  const absent = `Agent "${name}" does not exist in namespace "${namespace}"`;
  const isSession = caller.kind === 'session';
  if (!isSession && !(await call.may({verb: 'list', resource: 'agents'})))
    return new Refusal('agent_not_found', `${absent}; which ones there are is told to those who may list agents.`);
  const names = store
    .agents(namespace)
    .filter((a) => a.status?.publishedRevision !== undefined && a.metadata.deletionTimestamp === undefined)
    .filter((a) => !isSession || toolsBeyond(call, a.spec.groups).length === 0)
    .map((a) => a.metadata.name)
    .sort();
  return new Refusal('agent_not_found', `${absent}; ${sayChoice(names, isSession)}.`);
}

function sayChoice(names: readonly string[], isSession: boolean): string {
  if (names.length === 0)
    return isSession ? 'there is none that this session could start' : 'there is no published Agent yet';
  return `choose one of: ${firstFew(names, MAX_NAMES)}`;
}
