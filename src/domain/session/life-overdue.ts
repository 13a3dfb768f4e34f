import {ARCHIVE_TROUBLE} from '../archive.ts';
import {type Life, type LifeSeen, left} from './life.ts';
import type {PodEnd} from './pod-end.ts';
import {reported} from './runner-report.ts';
import {podUid} from './seen.ts';

/** How the running turn stands to `limits.turn` of its revision. Time that Questions wait counts, as it does for the runner. */
export interface Lateness {
  /** Beside Ready, once it is noticed. */
  conditions: NonNullable<Life['conditions']>;
  /** Milliseconds until something of this changes by itself; undefined when no turn runs, or its limit is not known. */
  leftMs: number | undefined;
  /** Its pod is given up. */
  end: PodEnd | undefined;
}

/**
 * The runner itself ends a turn at its limit. It gives the agent some time to stop, and its report may wait for gateways that are
 * being replaced: a turn that is late by a little is no news.
 */
const NOTICED_MS = 300_000;

/**
 * From the notice until the pod is given up, 10 min after the limit: nobody else would ever end the turn of a runner that is
 * frozen or cut off. It is counted from the condition: an end that an archive, a node or a controller held up while it was away
 * gets that time to come.
 */
const GIVEN_UP_MS = 300_000;

const NOT_LATE: Pick<Lateness, 'conditions' | 'end'> = {conditions: [], end: undefined};

/** Whether the turn that runs is late, and what follows from it. */
export function lateness(life: LifeSeen): Lateness {
  const {seen, queue, status} = life;
  const {metadata, status: turn} = queue.active?.turn ?? {};
  const since = turn?.phase === 'Running' ? turn.startedAt : undefined;
  const untilNoticed = noticedAfter(life, since);
  if (metadata === undefined || untilNoticed === undefined) return {...NOT_LATE, leftMs: undefined};
  if (untilNoticed > 0) return {...NOT_LATE, leftMs: untilNoticed};
  // Its end may have come and wait for the archive, or for its node.
  if (archiveTrouble(life) || seen.node !== 'Fine') return {...NOT_LATE, leftMs: NOTICED_MS};
  const limit = seen.current?.data.spec.limits.turn ?? '';
  const late = `turn ${metadata.name} runs since ${since}, longer than limits.turn (${limit}) allows, and its end did not come: its runner is frozen or cut off`;
  const follows = `If nothing comes within ${GIVEN_UP_MS / 60_000} min of this notice, its pod is deleted: the turn ends with outcome_unknown, and another pod follows for what waits`;
  const conditions = [
    {type: 'TurnOverdue', reason: 'TurnOverdue', message: `${late}. ${follows}`},
  ] satisfies Life['conditions'];
  const noticed = status.conditions?.find((c) => c.type === 'TurnOverdue')?.lastTransitionTime;
  const leftMs = noticed === undefined ? GIVEN_UP_MS : Date.parse(noticed) + GIVEN_UP_MS - seen.now.getTime();
  if (leftMs > 0) return {conditions, leftMs, end: undefined};
  return {conditions, leftMs: undefined, end: {reason: 'TurnOverdue', stopped: 'AgentExited', message: late}};
}

/** Milliseconds until a turn that runs since then is late. */
export function noticedAfter({seen}: LifeSeen, since: string | undefined): number | undefined {
  const limit = left(since, seen.current?.data.spec.limits.turn, seen.now);
  return limit === undefined ? undefined : limit + NOTICED_MS;
}

function archiveTrouble({seen, status}: LifeSeen): boolean {
  const uid = podUid(seen);
  const findings = uid === undefined ? [] : (reported(status, uid)?.findings ?? []);
  return [...findings, ...(status.conditions ?? [])].some((c) => c.type === ARCHIVE_TROUBLE.type);
}
