import type {ApiError} from './errors.ts';
import type {WatchEnd} from './watch.ts';

/** What one failed attempt was like. */
export interface FailedAttempt {
  readonly error: ApiError;
  /** Attempts made so far, this one included. */
  readonly attempts: number;
  /** True when repeating cannot do harm even if the first one was carried out. */
  readonly repeatable: boolean;
  /** False when the request never reached the server. */
  readonly sent: boolean;
  /** Milliseconds since the server was last unreachable. */
  readonly sinceTroubleMs: number;
}

const MAX_ATTEMPTS = 6;
// After an API server restart, RBAC answers 403 for a moment before its caches are filled (seen: 0.25 s).
const TRANSIENT_403_MS = 5_000;

/** Milliseconds to wait before the next attempt, or undefined to give up. `random` is in [0, 1): spread, so that many clients do not return at once. */
export function retryDelay(failed: FailedAttempt, random: number): number | undefined {
  const {error, attempts} = failed;
  if (attempts >= MAX_ATTEMPTS) return undefined;
  const backoff = Math.min(2_000, 100 * 2 ** (attempts - 1)) * (0.5 + random);
  if (error.kind === 'Throttled') return afterServer(error, backoff, random);
  // One more attempt, with the token read anew.
  if (error.kind === 'Unauthorized') return attempts === 1 ? 0 : undefined;
  if (error.kind === 'Forbidden') return failed.sinceTroubleMs < TRANSIENT_403_MS ? backoff : undefined;
  if (error.kind !== 'Unavailable') return undefined;
  if (!failed.sent) return backoff;
  return failed.repeatable ? afterServer(error, backoff, random) : undefined;
}

function afterServer(error: ApiError, backoff: number, random: number): number {
  const asked = error.facts.retryAfterSeconds;
  return asked === undefined ? backoff : spread(asked, random);
}

/** Milliseconds for what the server asked for in seconds, and something above it: not all clients at the same moment. */
function spread(askedSeconds: number, random: number): number {
  return askedSeconds * 1_000 * (1 + random / 4);
}

/** Milliseconds until an ended watch is opened anew: at most 7.5 s, because a process without a watch is not ready, but never sooner than the server asks. */
export function reconnectDelay(end: WatchEnd, failures: number, random: number): number {
  const asked = end.reason === 'refused' ? (end.error.facts.retryAfterSeconds ?? 0) : 0;
  const base = failures === 0 ? 50 : Math.min(5_000, 100 * 2 ** failures);
  return Math.max(spread(asked, random), base * (0.5 + random));
}
