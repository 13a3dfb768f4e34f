import type {RunnerStatus} from '../../api/v1alpha1/index.ts';
import {ARCHIVE_TROUBLE} from '../../domain/archive.ts';
import {ArchiveWaits} from '../../domain/archive-waits.ts';
import type {Clock} from '../../kube/clock.ts';
import type {Client, Log} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {APPLIED, type Applied} from './applied.ts';
import {writeRunner} from './write-runner.ts';

/** Says at a Session that its events wait for the archive, and takes it back. */
export interface ArchiveTroubles {
  /** The archive has not taken a batch of this pod. Never throws: the batch comes again anyway. */
  failed(bound: Bound): Promise<void>;
  /** It has taken one. Throws where that could not be told: the batch is sent again, and stored once. */
  passed(bound: Bound): Promise<void>;
}

/** The schema takes eight findings. */
const MOST_FINDINGS = 8;

type Finding = NonNullable<RunnerStatus['findings']>[number];

/** What `archiveTroubles` works with. */
export interface TroubleParts {
  readonly client: Pick<Client, 'find' | 'patchStatusJson'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Remembers by pod since when its events wait. */
export function archiveTroubles({client, clock, log}: TroubleParts): ArchiveTroubles {
  const waits = new ArchiveWaits();
  return {
    async failed(bound) {
      const news = waits.failed(bound.pod.uid, clock.now());
      if (!news || troubled(bound.session.status?.runner) !== undefined) return;
      await write(client, bound, ARCHIVE_TROUBLE).catch((error: unknown) => {
        const {name, namespace} = bound.session.metadata;
        const message = error instanceof Error ? error.message : String(error);
        log.warn({session: name, namespace, message}, 'the trouble with the archive could not be told');
      });
    },
    async passed(bound) {
      const told = troubled(bound.session.status?.runner) !== undefined;
      if (told || waits.has(bound.pod.uid)) await write(client, bound, undefined);
      waits.passed(bound.pod.uid);
    },
  };
}

/** The finding of before, which a report of the runner knows nothing of. */
export function troubled(runner: RunnerStatus | undefined): Finding | undefined {
  return runner?.findings?.find((f) => f.type === ARCHIVE_TROUBLE.type);
}

/** The findings with this one as the only one of its type; undefined when there are none. */
export function withTrouble(findings: readonly Finding[] | undefined, trouble: Finding | undefined) {
  const others = (findings ?? []).filter((f) => f.type !== ARCHIVE_TROUBLE.type).slice(0, MOST_FINDINGS - 1);
  const all = trouble === undefined ? others : [...others, trouble];
  return all.length === 0 ? undefined : all;
}

function write(client: TroubleParts['client'], bound: Bound, finding: Finding | undefined): Promise<Applied> {
  return writeRunner(client, bound, (before) => {
    // Nothing is said of a pod that has not reported: its start has a limit of its own.
    if (before?.podUID !== bound.pod.uid || (troubled(before) === undefined) === (finding === undefined))
      return APPLIED;
    const {findings, ...rest} = before;
    const next = withTrouble(findings, finding);
    return {write: next === undefined ? rest : {...rest, findings: next}};
  });
}
