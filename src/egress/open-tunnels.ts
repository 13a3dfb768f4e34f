import type {Duplex} from 'node:stream';
import {EgressRefusal} from './refusal.ts';

/** Connections of all pods, bounded for each and altogether. */
export interface OpenTunnels {
  /** Counts a connection of this pod until it closes; throws EgressRefusal when there are too many. */
  enter(podUid: string, connection: Duplex): void;
  /** Cut every connection of a pod that is not its session's any more. */
  cut(podUid: string): void;
  cutAll(): void;
  size(): number;
}

/** Keep track of connections. */
export function createOpenTunnels(limits: {perPod: number; total: number}): OpenTunnels {
  const byPod = new Map<string, Set<Duplex>>();
  let total = 0;
  return {
    enter(podUid, connection) {
      const ofPod = byPod.get(podUid) ?? new Set();
      if (connection.destroyed) throw new EgressRefusal('connect_failed', 'the caller went away');
      if (ofPod.size >= limits.perPod) throw tooMany(`a pod may have ${limits.perPod} connections at once`);
      if (total >= limits.total) throw tooMany(`the relay holds ${limits.total} connections, its limit`);
      byPod.set(podUid, ofPod.add(connection));
      total += 1;
      connection.once('close', () => {
        ofPod.delete(connection);
        total -= 1;
        if (ofPod.size === 0 && byPod.get(podUid) === ofPod) byPod.delete(podUid);
      });
    },
    cut(podUid) {
      for (const connection of byPod.get(podUid) ?? []) connection.destroy();
    },
    cutAll() {
      for (const ofPod of byPod.values()) for (const connection of ofPod) connection.destroy();
    },
    size: () => total,
  };
}

function tooMany(message: string): EgressRefusal {
  return new EgressRefusal('too_many', `${message}; close some, or try again`);
}
