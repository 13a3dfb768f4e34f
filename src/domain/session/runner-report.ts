import {
  type RunnerStatus,
  Session,
  type SessionConditionType,
  type SessionReason,
  type SessionStatus,
  STOPPED_REASONS,
  type StoppedReason,
} from '../../api/v1alpha1/index.ts';
import type {Failure} from './life.ts';

/** What the runner of this pod reported; a report of an earlier pod counts for nothing. */
export function reported(status: SessionStatus, podUid: string): RunnerStatus | undefined {
  return status.runner?.podUID === podUid ? status.runner : undefined;
}

/** Why the agent of this report cannot go on; undefined while it can. */
export function reportFailure(report: RunnerStatus): Failure | undefined {
  if (report.state !== 'Failed' && report.state !== 'Exited') return undefined;
  const fallback = report.state === 'Failed' ? 'StartFailed' : 'AgentExited';
  const reason = report.exit?.outOfMemory === true ? 'OutOfMemory' : (knownReason(report.reason) ?? fallback);
  return {reason, stopped: stoppedBy(reason, report.state), message: report.message ?? exitText(report) ?? fallback};
}

function exitText({exit}: RunnerStatus): string | undefined {
  if (exit?.signal !== undefined) return `the agent process was ended by ${exit.signal}`;
  return exit?.code === undefined ? undefined : `the agent process ended with exit code ${exit.code}`;
}

function stoppedBy(reason: SessionReason, state: 'Failed' | 'Exited'): StoppedReason {
  const same = STOPPED_REASONS.find((s) => s === reason);
  return same ?? (state === 'Failed' ? 'StartFailed' : 'AgentExited');
}

/** Conditions that only the runner can see; types and reasons that are not documented are dropped. */
export function findingConditions(
  report: RunnerStatus | undefined,
): {type: SessionConditionType; reason: SessionReason; message: string}[] {
  return (report?.findings ?? []).flatMap(({type, reason, message}) => {
    const known = knownReason(reason);
    const condition = knownType(type);
    return known === undefined || condition === undefined ? [] : [{type: condition, reason: known, message}];
  });
}

// What a runner may raise: its zone holds the agent, so it gets no say over Ready and the like.
const RAISED = [
  'NetworkNotIsolated',
  'AgentUnresponsive',
  'ToolsNotConnected',
  'ArchiveUnavailable',
  'VolumeNotWritable',
  'SeedIncomplete',
  'ConversationRebuilt',
  'RunnerRestarting',
] as const satisfies readonly SessionConditionType[];

function knownType(type: string): SessionConditionType | undefined {
  return RAISED.find((t) => t === type);
}

/** The reason, if it is a documented one: a runner cannot invent any. */
export function knownReason(reason: string | undefined): SessionReason | undefined {
  return reason !== undefined && isReason(reason) ? reason : undefined;
}

function isReason(reason: string): reason is SessionReason {
  return Object.hasOwn(Session.conditions.reasons, reason);
}
