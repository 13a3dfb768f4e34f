import type {Caches} from './ports.ts';

// A watch that ends is opened again within 7.5 s while the API server can be reached.
const CUT_OFF_MS = 20_000;

/** Whether who had no watch for so long does not reach the API server: what it has is old, and somebody else may know more. */
export function cutOff(deafMs: number): boolean {
  return deafMs >= CUT_OFF_MS;
}

/** Why a process with these caches should be sent nothing while it hears of no change; undefined = it hears. */
export function cutOffFor({deafMs}: Pick<Caches, 'deafMs'>): string | undefined {
  const ms = deafMs();
  return cutOff(ms) ? `no watch on the API server for ${Math.round(ms / 1_000)} s` : undefined;
}

/** Why a process that works from these caches should be sent nothing now; undefined = it can work. */
export function unready(caches: Pick<Caches, 'synced' | 'deafMs'>): string | undefined {
  return caches.synced() ? cutOffFor(caches) : 'reading the objects of the cluster';
}
