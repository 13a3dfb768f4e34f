import type {SessionSeen} from './seen.ts';

/** True when the gateway or the relay has another address than the present pod was told: it never looks a name up. */
export function moved({pod, addresses}: Pick<SessionSeen, 'pod' | 'addresses'>): boolean {
  if (pod.kind !== 'Present' || addresses === undefined) return false;
  const told = JSON.stringify(pod.pod.spec.initContainers?.flatMap((c) => c.env ?? []) ?? []);
  return !told.includes(`//${host(addresses.gateway)}:`) || !told.includes(`"${host(addresses.egress)}:`);
}

function host(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
