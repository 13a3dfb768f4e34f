import {vi} from 'vitest';

/** How long a condition has to come true without a cluster: far more than any takes, so that only a fault reaches it. */
const PATIENCE = {timeout: 15_000, interval: 10};

/** Tries until `probe` does not throw, and returns what it came to; fails with its last error. */
export const eventually = <T>(probe: () => T | Promise<T>): Promise<T> => vi.waitFor(probe, PATIENCE);
