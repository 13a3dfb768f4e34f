import {z} from 'zod';
import {PORT} from '../api/pod.ts';
import {parseRange} from '../domain/egress/address.ts';
import {parseCeilingEntry} from '../domain/egress/ceiling.ts';
import {commaList, commonVariables, kubernetesAccess, port, readEnvironment} from './environment.ts';

/** A comma list whose parts are all parsed; the message names the part that is wrong. */
function listOf<T>(parse: (text: string) => T | undefined, allowed: string) {
  return commaList.transform((parts, context) => {
    const parsed: T[] = [];
    for (const part of parts) {
      const value = parse(part);
      if (value === undefined) context.addIssue({code: 'custom', message: `"${part}" is not ${allowed}`, input: part});
      else parsed.push(value);
    }
    return parsed;
  });
}

const positive = z.coerce.number().int().min(1);

const Variables = z.object({
  ...commonVariables,
  /** Ranges that are not public and may be reached all the same, `cidr`, `cidr:port` or `[IPv6 cidr]:port`. */
  CARREL_EGRESS_ALLOW_PRIVATE: listOf(
    parseCeilingEntry,
    'a range: write 10.0.0.0/8, 10.0.0.0/8:443 or [fd00::/8]:443, and no bit behind the prefix',
  ).default([]),
  /** Pod and Service ranges, where the API does not tell them. */
  CARREL_CLUSTER_CIDRS: listOf(parseRange, 'a range like 10.244.0.0/16, with no bit behind the prefix').default([]),
  CARREL_CLUSTER_DOMAIN: z.string().min(1).default('cluster.local'),
  CARREL_EGRESS_CONNECTIONS_PER_POD: positive.default(64),
  CARREL_EGRESS_CONNECTIONS: positive.default(4_096),
  /** Silence that ends a tunnel; models think for minutes. */
  CARREL_EGRESS_IDLE_SECONDS: positive.default(900),
  CARREL_EGRESS_PORT: port.default(PORT.egress),
  CARREL_EGRESS_CANARY_PORT: port.default(PORT.egressCanary),
  CARREL_HEALTH_PORT: port.default(PORT.health),
});

/** Reads and checks the environment of the egress relay. */
export function readEgressConfig(env: NodeJS.ProcessEnv = process.env) {
  const v = readEnvironment(Variables, env);
  return Object.freeze({
    logLevel: v.CARREL_LOG_LEVEL,
    kubernetes: kubernetesAccess(v),
    allowPrivate: v.CARREL_EGRESS_ALLOW_PRIVATE,
    clusterRanges: v.CARREL_CLUSTER_CIDRS,
    clusterDomain: v.CARREL_CLUSTER_DOMAIN,
    limits: {
      perPod: v.CARREL_EGRESS_CONNECTIONS_PER_POD,
      total: v.CARREL_EGRESS_CONNECTIONS,
      idleMs: v.CARREL_EGRESS_IDLE_SECONDS * 1_000,
      connectMs: 10_000,
    },
    port: v.CARREL_EGRESS_PORT,
    canaryPort: v.CARREL_EGRESS_CANARY_PORT,
    healthPort: v.CARREL_HEALTH_PORT,
  });
}
