import type {Caches} from './ports.ts';

// A watch that ends is opened again within 7.5 s while the API server can be reached.
const CUT_OFF_MS = 20_000;

/** Whether who had no watch for so long does not reach the API server: what it has is old, and somebody else may know more. */
export function cutOff(deafMs: number): boolean {
  return deafMs >= CUT_OFF_MS;
}

/** Why a process that works from these caches should be sent nothing now; undefined = it can work. */
export function unready(caches: Pick<Caches, 'synced' | 'deafMs'>): string | undefined {
  if (!caches.synced()) return 'reading the objects of the cluster';
  const deafMs = caches.deafMs();
  return cutOff(deafMs) ? `no watch on the API server for ${Math.round(deafMs / 1_000)} s` : undefined;
}
