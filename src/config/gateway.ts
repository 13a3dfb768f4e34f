import {z} from 'zod';
import {PORT} from '../api/pod.ts';
import {commaList, commonVariables, kubernetesAccess, port, readEnvironment} from './environment.ts';

const milliseconds = (most: number) => z.coerce.number().int().min(0).max(most);

const Variables = z.object({
  ...commonVariables,
  CARREL_RELEASE_NAMESPACE: z.string().min(1),
  /** Name of the gateway's Service; its DNS names pass the Host check. */
  CARREL_GATEWAY_SERVICE: z.string().min(1).default('carrel-gateway'),
  CARREL_ARCHIVE_URL: z.url({protocol: /^https?$/}),
  /** Token of audience `carrel-archive`. */
  CARREL_ARCHIVE_TOKEN_FILE: z.string().min(1).default('/var/run/secrets/carrel/archive/archive'),
  /** More host names that pass, without port. */
  CARREL_ALLOWED_HOSTS: commaList.default([]),
  /** Origins of pages that may call. */
  CARREL_ALLOWED_ORIGINS: commaList.default([]),
  /** File of API key digests; no keys when absent. */
  CARREL_API_KEYS_FILE: z.string().min(1).optional(),
  /** Audiences of people's tokens beside `carrel`. */
  CARREL_AUDIENCES: commaList.default([]),
  CARREL_PORT: port.default(PORT.gateway),
  CARREL_CANARY_PORT: port.default(PORT.gatewayCanary),
  CARREL_HEALTH_PORT: port.default(PORT.health),
  /** How long `ask_user` blocks. */
  CARREL_ASK_WAIT_MS: milliseconds(50_000).default(50_000),
  /** From readiness off to no new connections, so that Endpoints forget this replica. */
  CARREL_LAME_DUCK_MS: milliseconds(60_000).default(3_000),
  /** Longest wait for requests in flight at a stop. */
  CARREL_DRAIN_MS: milliseconds(600_000).default(20_000),
});

/** Reads and checks the environment of the gateway. */
export function readGatewayConfig(env: NodeJS.ProcessEnv = process.env) {
  const v = readEnvironment(Variables, env);
  return Object.freeze({
    logLevel: v.CARREL_LOG_LEVEL,
    kubernetes: kubernetesAccess(v),
    archive: {url: v.CARREL_ARCHIVE_URL, tokenFile: v.CARREL_ARCHIVE_TOKEN_FILE},
    allowlists: {
      hosts: [...ownHosts(v.CARREL_GATEWAY_SERVICE, v.CARREL_RELEASE_NAMESPACE), ...v.CARREL_ALLOWED_HOSTS].map(lower),
      origins: v.CARREL_ALLOWED_ORIGINS.map(lower),
    },
    apiKeysFile: v.CARREL_API_KEYS_FILE,
    audiences: v.CARREL_AUDIENCES,
    ports: {main: v.CARREL_PORT, canary: v.CARREL_CANARY_PORT, health: v.CARREL_HEALTH_PORT},
    askWaitMs: v.CARREL_ASK_WAIT_MS,
    lameDuckMs: v.CARREL_LAME_DUCK_MS,
    drainMs: v.CARREL_DRAIN_MS,
  });
}

/** Names under which the gateway is reached without further settings: its Service, and a forwarded port. */
function ownHosts(service: string, namespace: string): string[] {
  const inNamespace = `${service}.${namespace}`;
  return [service, inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`, 'localhost'];
}

function lower(text: string): string {
  return text.toLowerCase();
}
