import {z} from 'zod';
import {PORT} from '../api/pod.ts';
import {LOG_LEVELS} from '../telemetry/logger.ts';

const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((item) => item.trim().toLowerCase()).filter((item) => item !== ''));
const port = (otherwise: number) => z.coerce.number().int().min(0).max(65_535).default(otherwise);
const ms = (otherwise: number, most: number) => z.coerce.number().int().min(0).max(most).default(otherwise);

/** Settings of the gateway, from the environment that the chart writes. */
const GatewayEnv = z.object({
  CARREL_RELEASE_NAMESPACE: z.string().min(1).describe('Namespace of the release.'),
  CARREL_POD_NAME: z.string().default('gateway').describe('Name of this pod, for logs.'),
  CARREL_GATEWAY_SERVICE: z.string().default('carrel-gateway').describe('Name of the gateway Service; its DNS names pass the Host check.'),
  CARREL_ARCHIVE_URL: z.url({protocol: /^https?$/}).describe('Address of the archive.'),
  CARREL_ARCHIVE_TOKEN_FILE: z.string().default('/var/run/secrets/carrel/archive/archive').describe('Token of audience carrel-archive.'),
  CARREL_ALLOWED_HOSTS: list.describe('More host names, comma separated, without port.'),
  CARREL_ALLOWED_ORIGINS: list.describe('Origins of pages that may call, comma separated.'),
  CARREL_API_KEYS_FILE: z.string().optional().describe('File of API key digests; none when absent.'),
  CARREL_AUDIENCES: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((a) => a.trim()).filter((a) => a !== ''))
    .describe('Audiences of people\'s tokens beside `carrel`, comma separated.'),
  CARREL_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Least level that is logged.'),
  CARREL_PORT: port(PORT.gateway).describe('Main port.'),
  CARREL_CANARY_PORT: port(PORT.gatewayCanary).describe('Port that no network policy allows.'),
  CARREL_HEALTH_PORT: port(PORT.health).describe('Health and metrics.'),
  CARREL_ASK_WAIT_MS: ms(50_000, 50_000).describe('How long ask_user blocks.'),
  CARREL_LAME_DUCK_MS: ms(3_000, 60_000).describe('From readiness off to no new connections.'),
  CARREL_DRAIN_MS: ms(20_000, 600_000).describe('Longest wait for requests in flight at a stop.'),
});

/** Settings of the gateway. */
export type GatewayConfig = Readonly<{
  releaseNamespace: string;
  podName: string;
  archive: Readonly<{url: string; tokenFile: string}>;
  allowlists: Readonly<{hosts: readonly string[]; origins: readonly string[]}>;
  apiKeysFile: string | undefined;
  audiences: readonly string[];
  logLevel: (typeof LOG_LEVELS)[number];
  ports: Readonly<{main: number; canary: number; health: number}>;
  askWaitMs: number;
  lameDuckMs: number;
  drainMs: number;
}>;

/** Reads the settings; throws with the names of all that are missing or wrong. */
export function readGatewayConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  const parsed = GatewayEnv.safeParse(env);
  if (!parsed.success) throw new Error(`gateway settings: ${z.prettifyError(parsed.error)}`);
  const e = parsed.data;
  return Object.freeze({
    releaseNamespace: e.CARREL_RELEASE_NAMESPACE,
    podName: e.CARREL_POD_NAME,
    archive: {url: e.CARREL_ARCHIVE_URL, tokenFile: e.CARREL_ARCHIVE_TOKEN_FILE},
    allowlists: {
      hosts: [...ownHosts(e.CARREL_GATEWAY_SERVICE, e.CARREL_RELEASE_NAMESPACE), ...e.CARREL_ALLOWED_HOSTS],
      origins: e.CARREL_ALLOWED_ORIGINS,
    },
    apiKeysFile: e.CARREL_API_KEYS_FILE,
    audiences: e.CARREL_AUDIENCES,
    logLevel: e.CARREL_LOG_LEVEL,
    ports: {main: e.CARREL_PORT, canary: e.CARREL_CANARY_PORT, health: e.CARREL_HEALTH_PORT},
    askWaitMs: e.CARREL_ASK_WAIT_MS,
    lameDuckMs: e.CARREL_LAME_DUCK_MS,
    drainMs: e.CARREL_DRAIN_MS,
  });
}

/** Names under which the gateway is reached without further settings: its Service, and a forwarded port. */
function ownHosts(service: string, namespace: string): string[] {
  const dns = [service, `${service}.${namespace}`, `${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
  return [...dns, 'localhost'];
}
