import {LRUCache} from 'lru-cache';
import type {RunnerStatus} from '../../api/v1alpha1/index.ts';
import {type ArchiveError, archiveTrouble} from '../../domain/archive.ts';
import type {Clock} from '../../kube/clock.ts';
import {isApiError} from '../../kube/errors.ts';
import {Sessions} from '../../kube/kinds.ts';
import type {Client, Log} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';

/** Says at a Session that its events wait for the archive, and takes it back. Never throws: it only tells. */
export interface ArchiveTroubles {
  /** The archive has not taken a batch of this pod. */
  failed(bound: Bound, error: ArchiveError): Promise<void>;
  /** It has taken one. */
  passed(bound: Bound): Promise<void>;
}

/** So long the archive may take nothing before that is news: its restart is none. */
const NEWS_AFTER_MS = 10_000;
/** Pods that are remembered; one that is forgotten is told a little later. */
const MOST_PODS = 10_000;
const TRIES = 3;
/** The schema takes eight findings. */
const MOST_FINDINGS = 8;

type Finding = NonNullable<RunnerStatus['findings']>[number];
const TYPE: Finding['type'] = 'ArchiveUnavailable';

/** What `archiveTroubles` works with. */
export interface TroubleParts {
  readonly client: Pick<Client, 'find' | 'patchStatusJson'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Remembers by pod since when its events wait. */
export function archiveTroubles(parts: TroubleParts): ArchiveTroubles {
  const since = new LRUCache<string, number>({max: MOST_PODS});
  const tell = async (bound: Bound, finding: Finding | undefined): Promise<void> => {
    try {
      await write(parts.client, bound, finding);
    } catch (error) {
      if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return;
      const {name, namespace} = bound.session.metadata;
      const message = error instanceof Error ? error.message : String(error);
      parts.log.warn({session: name, namespace, message}, 'the trouble with the archive could not be told');
    }
  };
  return {
    async failed(bound, error) {
      const now = parts.clock.now();
      const first = since.get(bound.pod.uid) ?? now;
      since.set(bound.pod.uid, first);
      if (now - first >= NEWS_AFTER_MS) await tell(bound, archiveTrouble(error));
    },
    async passed(bound) {
      const waited = since.delete(bound.pod.uid);
      if (waited || troubled(bound.session.status?.runner) !== undefined) await tell(bound, undefined);
    },
  };
}

/** The finding of before, which a report of the runner knows nothing of. */
export function troubled(runner: RunnerStatus | undefined): Finding | undefined {
  return runner?.findings?.find((f) => f.type === TYPE);
}

/** The findings with this one as the only one of its type; undefined when there are none. */
export function withTrouble(findings: readonly Finding[] | undefined, trouble: Finding | undefined) {
  const others = (findings ?? []).filter((f) => f.type !== TYPE).slice(0, MOST_FINDINGS - 1);
  const all = trouble === undefined ? others : [...others, trouble];
  return all.length === 0 ? undefined : all;
}

async function write(client: TroubleParts['client'], {pod, session}: Bound, finding: Finding | undefined) {
  const ref = {namespace: session.metadata.namespace, name: session.metadata.name};
  for (let attempt = 1; ; attempt++) {
    const runner = (await client.find(Sessions, ref))?.status?.runner;
    // Nothing is said of a pod that has not reported: its start has a limit of its own.
    if (runner?.podUID !== pod.uid || troubled(runner)?.message === finding?.message) return;
    const {findings, ...rest} = runner;
    const next = withTrouble(findings, finding);
    try {
      await client.patchStatusJson(Sessions, ref, {
        uid: session.metadata.uid,
        tests: {'/status/pod/uid': pod.uid, '/status/runner': runner},
        ops: [{op: 'add', path: '/status/runner', value: next === undefined ? rest : {...rest, findings: next}}],
      });
      return;
    } catch (error) {
      if (!isApiError(error, 'TestFailed') || attempt >= TRIES) throw error;
    }
  }
}
