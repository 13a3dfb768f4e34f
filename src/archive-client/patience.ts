/** Whether an archive that stays silent is asked again. */
export interface Patience {
  /** False: it was silent just now, and one call is finding out whether it still is. */
  mayAsk(): boolean;
  /** It answered, whatever it said; or it refused the connection, which costs nobody time. */
  heard(): void;
  /** Nothing came within the time limit. */
  silent(): void;
}

/** After a silence, one call in so long waits for the archive; the others fail at once. */
const AGAIN_MS = 5_000;

/**
 * A silent archive costs every caller its whole time limit, and callers are workers that have other turns to end. So the
 * first silence is remembered, and until something is heard again only one call at a time waits. `now` is monotonic.
 */
export function createPatience(now: () => number): Patience {
  let askAgain: number | undefined;
  return {
    mayAsk() {
      if (askAgain === undefined) return true;
      if (now() < askAgain) return false;
      askAgain = now() + AGAIN_MS;
      return true;
    },
    heard() {
      askAgain = undefined;
    },
    silent() {
      askAgain = now() + AGAIN_MS;
    },
  };
}
