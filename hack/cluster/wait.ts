import {setTimeout as delay} from 'node:timers/promises';

/** Asks until the answer is neither undefined nor false; gives up, naming what was awaited and the last error, after `timeoutMs`. */
export async function waitFor<T>(
  what: string,
  limits: {timeoutMs: number; everyMs?: number},
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  const end = Date.now() + limits.timeoutMs;
  let last = '';
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = error instanceof Error ? `; last error: ${error.message}` : '';
    }
    if (Date.now() > end) throw new Error(`${what}: not seen within ${limits.timeoutMs / 1000} s${last}`);
    await delay(limits.everyMs ?? 250);
  }
}
