import type {SessionObject, SessionStatus} from '../../api/v1alpha1/index.ts';

/**
 * What becomes of the work that a Session was started for. `starting`: it was made just now, and is about to be queued; `not
 * queued`: it was made before, and nothing has begun; `none`: it has no prompt, and nobody has sent it a message.
 */
export const JOBS = ['starting', 'queued', 'running', 'ended', 'not queued', 'none'] as const;

type Job = (typeof JOBS)[number];

const OVER: readonly SessionStatus['phase'][] = ['Closed', 'Failed', 'Archived'];

/** Whether the platform has begun to work on a Session (Z-082). Takes the Session as read live: the cache keeps no prompts. */
export function jobOf({spec, status}: SessionObject, replayed: boolean): Job {
  if (status?.phase === 'Running' || status?.phase === 'NeedsInput') return 'running';
  if ((status?.turns ?? 0) > 0 || OVER.includes(status?.phase)) return 'ended';
  if ((status?.admitted?.length ?? 0) > 0 || (status?.queued ?? 0) > 0) return 'queued';
  if ((spec.prompt ?? '') === '') return 'none';
  if (status?.initialTurn !== undefined || begun(status)) return 'queued';
  return replayed ? 'not queued' : 'starting';
}

/** The same for people: what they may count on, and whether something has begun at all. */
export function sayJob(session: SessionObject, replayed: boolean): string {
  const job = jobOf(session, replayed);
  const never = 'the session was created but nothing has started it yet';
  if (job === 'not queued') return `not queued: ${never}`;
  if (job === 'starting') return 'starting: the controller is about to queue it';
  if (job !== 'none') return job;
  if (begun(session.status)) return 'none: the session has no prompt; it waits for a message';
  return replayed
    ? `none: the session has no prompt; ${never}`
    : 'none: the session has no prompt; it will be prepared and wait for a message';
}

// The attempt stays when the pod goes: a session that sleeps was started all the same.
function begun(status: SessionStatus | undefined): boolean {
  return (status?.attempt ?? 0) > 0;
}
