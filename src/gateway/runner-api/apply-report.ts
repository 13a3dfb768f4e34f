import {wholeSeconds} from '../../api/condition-list.ts';
import type {RunnerStatus} from '../../api/v1alpha1/index.ts';
import type {RunnerEvent} from '../../api/wire/runner.ts';
import {canonicalJson} from '../../domain/canonical.ts';
import {sizedRunner} from '../../domain/status-size.ts';
import type {Client} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';
import {troubled, withTrouble} from './archive-trouble.ts';
import {writeRunner} from './write-runner.ts';

/** What a runner tells of its start and of its agent. */
export type Report = Extract<RunnerEvent, {type: 'report'}>;

/** Write what a runner reports; reports are rare. */
export function applyReport(
  client: Pick<Client, 'find' | 'patchStatusJson'>,
  bound: Bound,
  {report, epoch, now}: {report: Report; epoch: number; now: Date},
): Promise<Applied> {
  const podUid = bound.pod.uid;
  return writeRunner(client, bound, (before) => {
    if (before?.podUID === podUid && before.epoch > epoch) return dropped('old_epoch');
    const next = runnerStatus(report, {podUid, epoch, before, now});
    return before !== undefined && isSame(before, next) ? APPLIED : {write: next};
  });
}

/** The status that a report makes: the conversation and the agent's name stay known until a report changes them. */
export function runnerStatus(
  report: Report,
  past: {podUid: string; epoch: number; before: RunnerStatus | undefined; now: Date},
): RunnerStatus {
  const {type: _type, agentSessionId, conversation, agent, exit, findings, ...rest} = report;
  const {before, podUid, epoch} = past;
  const samePod = before?.podUID === podUid;
  return sizedRunner({
    ...rest,
    podUID: podUid,
    epoch,
    agentSessionId: agentSessionId ?? before?.agentSessionId,
    conversation: conversation ?? (samePod ? before?.conversation : undefined),
    agent: agent ?? before?.agent,
    exit: exit === undefined ? undefined : {...exit, code: inByte(exit.code)},
    findings: withTrouble(findings, samePod ? troubled(before) : undefined),
    reportedAt: wholeSeconds(past.now),
  });
}

function inByte(code: number | undefined): number | undefined {
  return code !== undefined && code >= -1 && code <= 255 ? code : undefined;
}

function isSame(a: RunnerStatus, b: RunnerStatus): boolean {
  const timeless = ({reportedAt: _at, ...rest}: RunnerStatus) => canonicalJson(rest);
  return timeless(a) === timeless(b);
}
