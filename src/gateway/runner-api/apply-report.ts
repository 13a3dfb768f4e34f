import {wholeSeconds} from '../../api/condition-list.ts';
import type {RunnerStatus, SessionObject} from '../../api/v1alpha1/index.ts';
import type {RunnerEvent} from '../../api/wire/runner.ts';
import {canonicalJson} from '../../domain/canonical.ts';
import {sizedRunner} from '../../domain/status-size.ts';
import {isApiError} from '../../kube/errors.ts';
import {Sessions} from '../../kube/kinds.ts';
import type {Client} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';
import {troubled, withTrouble} from './archive-trouble.ts';

/** What a runner tells of its start and of its agent. */
export type Report = Extract<RunnerEvent, {type: 'report'}>;

const TRIES = 3;

/** Write `status.runner`, conditional on the pod. Reports are rare, so the Session is read live: the name of the conversation must not get lost. */
export async function applyReport(
  client: Pick<Client, 'find' | 'patchStatusJson'>,
  {pod, session}: Bound,
  {report, epoch, now}: {report: Report; epoch: number; now: Date},
): Promise<Applied> {
  const ref = {namespace: session.metadata.namespace, name: session.metadata.name};
  for (let attempt = 1; ; attempt++) {
    const live = await client.find(Sessions, ref);
    const before = live?.status?.runner;
    if (!isPresent(live, session.metadata.uid, pod.uid)) return dropped('fenced');
    if (before?.podUID === pod.uid && before.epoch > epoch) return dropped('old_epoch');
    const next = runnerStatus(report, {podUid: pod.uid, epoch, before, now});
    if (before !== undefined && isSame(before, next)) return APPLIED;
    try {
      await client.patchStatusJson(Sessions, ref, {
        uid: session.metadata.uid,
        // The second test: of two reports that overtake each other, the later one starts from what the first has written.
        tests: {'/status/pod/uid': pod.uid, '/status/runner': before ?? null},
        ops: [{op: 'add', path: '/status/runner', value: next}],
      });
      return APPLIED;
    } catch (error) {
      if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return dropped('session_gone');
      // It breaks the schema and will for ever: sent again and again, it would hold up every later event, the end of the turn too.
      if (isApiError(error, 'Invalid')) return dropped('invalid');
      if (!isApiError(error, 'TestFailed') || attempt >= TRIES) throw error;
    }
  }
}

function isPresent(live: SessionObject | undefined, sessionUid: string, podUid: string): boolean {
  return live?.metadata.uid === sessionUid && live.status?.pod?.uid === podUid;
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
