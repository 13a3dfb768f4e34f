import {CONTAINER} from '../../api/pod.ts';
import {cancelCommand, restartCommand} from './advice.ts';
import {type Life, type LifeSeen, left, podOf} from './life.ts';

/** How the running turn stands to `limits.turn` of its revision. Time that Questions wait counts, as it does for the runner. */
export interface Lateness {
  /** Beside Ready, once it is noticed. */
  conditions: NonNullable<Life['conditions']>;
  /** Milliseconds until it is noticed; undefined when that was, when no turn runs, or when nobody knows its limit. */
  leftMs: number | undefined;
}

/**
 * The runner itself ends a turn at its limit. It gives the agent some time to stop, and its report may wait for gateways that are
 * being replaced: a turn that is late by a little is no news.
 */
const NOTICED_MS = 300_000;

/**
 * Whether the turn that runs is late. Nobody gives it up for that: its end may have come long ago and wait in the pod for a
 * gateway or for the archive, and with the pod it would be lost. `closes`: the Session waits for this turn only.
 */
export function lateness(life: LifeSeen, closes: boolean): Lateness {
  const {seen, queue} = life;
  const {metadata, status: turn} = queue.active?.turn ?? {};
  const since = turn?.phase === 'Running' ? turn.startedAt : undefined;
  const leftMs = noticedAfter(life, since);
  // A node that is silent says more.
  if (metadata === undefined || leftMs === undefined || seen.node !== 'Fine')
    return {conditions: [], leftMs: undefined};
  if (leftMs > 0) return {conditions: [], leftMs};
  const limit = seen.current?.data.spec.limits.turn ?? '';
  const pod = podOf(life)?.metadata.name ?? '';
  const command = closes ? cancelCommand(seen.session) : restartCommand(seen.session);
  const message = `turn ${metadata.name} runs since ${since}, longer than limits.turn (${limit}) allows, and its end did not come: its runner is frozen, does not reach the gateway, or waits for the archive. Look at its node and at kubectl logs ${pod} -c ${CONTAINER.runner}; its end may still come. If not: ${command}, and what the turn did is then unknown`;
  return {conditions: [{type: 'TurnOverdue', reason: 'TurnOverdue', message}], leftMs: undefined};
}

/** Milliseconds until a turn that runs since then is late. */
export function noticedAfter({seen}: LifeSeen, since: string | undefined): number | undefined {
  const limit = left(since, seen.current?.data.spec.limits.turn, seen.now);
  return limit === undefined ? undefined : limit + NOTICED_MS;
}
