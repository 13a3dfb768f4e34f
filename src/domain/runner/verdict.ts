/** What an answer of the gateway means for the runner. */
export type Verdict = 'ok' | 'retry' | 'fenced' | 'refused';

/** Client errors that pass: a slow request, a pod that is not bound yet, too many requests, a token that expired under way. */
const PASSING = [401, 408, 425, 429];

/**
 * 410 fences at once; 401 only when the token had just been read anew, as an old one may have expired under way. Any other
 * client error is about what was sent, so sending the same for ever is of no use. All else (503 no verdict, network errors as
 * status 0) is tried again without end.
 */
export function judge(status: number, tokenReadAnew: boolean): Verdict {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 410) return 'fenced';
  if (status === 401 && tokenReadAnew) return 'fenced';
  return status >= 400 && status < 500 && !PASSING.includes(status) ? 'refused' : 'retry';
}

/** Milliseconds before try number `attempt` (from 1), at most 5 s; `random` in [0, 1) spreads many pods. */
export function backoff(attempt: number, random: number): number {
  const full = Math.min(5_000, 100 * 2 ** Math.min(attempt, 10));
  return Math.round(full / 2 + (full / 2) * random);
}
