import {readFileSync} from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import {type Clock, systemClock} from './clock.ts';

/** What proves who we are, and who the server is; read anew for every request. */
export interface Credentials {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly token?: string | undefined;
}

/** One API server: its address, credentials and bounded socket pools. */
export interface Connection {
  readonly server: URL;
  /** Keep-alive pool for short calls. */
  readonly calls: http.Agent;
  /** A socket per watch, never reused. */
  readonly watches: http.Agent;
  /** Current credentials; `fresh` reads the files anew (after a 401). */
  credentials(fresh?: boolean): Credentials;
  /** Remember that the server was unreachable: a 403 soon after is taken as transient. */
  trouble(): void;
  /** Milliseconds since the last trouble; Infinity when there was none. */
  sinceTrouble(): number;
  /** Drop all idle sockets. */
  close(): void;
}

/** Where a pod finds its service account. */
export interface InClusterFiles {
  readonly host: string;
  readonly port: string;
  readonly tokenFile: string;
  readonly caFile: string;
}

/** Where the kubelet mounts the service account. */
export const SERVICE_ACCOUNT_FILES = {
  tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  caFile: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
} as const;

// client-go reads its token anew each minute too: projected tokens live ten minutes or more.
const REREAD_MS = 60_000;

/** Connect as the pod's service account; token and CA are read anew at most each minute. Host and port come from the configuration. */
export function inCluster(files: InClusterFiles, clock: Clock = systemClock): Connection {
  const host = files.host.includes(':') ? `[${files.host}]` : files.host;
  let readAt = Number.NEGATIVE_INFINITY;
  let held: Credentials = {};
  return connect(
    new URL(`https://${host}:${files.port}`),
    (fresh) => {
      if (fresh || clock.monotonic() - readAt >= REREAD_MS) {
        held = rereadFiles(files, held);
        readAt = clock.monotonic();
      }
      return held;
    },
    clock,
  );
}

/** Connect with these credentials; for tests, tools and kubeconfigs. */
export function connectWith(server: URL, credentials: Credentials, clock: Clock = systemClock): Connection {
  return connect(server, () => credentials, clock);
}

// While the kubelet swaps the files a read may fail: the old pair is still good for minutes.
function rereadFiles(files: InClusterFiles, held: Credentials): Credentials {
  try {
    return {token: readFileSync(files.tokenFile, 'utf8').trim(), ca: readFileSync(files.caFile, 'utf8')};
  } catch (error) {
    if (held.token !== undefined) return held;
    throw error;
  }
}

function connect(server: URL, credentials: (fresh: boolean) => Credentials, clock: Clock): Connection {
  if (server.protocol !== 'https:' && server.protocol !== 'http:') {
    throw new Error(`API server address: "${server.href}" must start with https:// or http://`);
  }
  const {Agent} = server.protocol === 'https:' ? https : http;
  const calls = new Agent({keepAlive: true, maxSockets: 32, maxFreeSockets: 8, scheduling: 'lifo'});
  const watches = new Agent({keepAlive: false, maxSockets: 64});
  let troubleAt = Number.NEGATIVE_INFINITY;
  return {
    server,
    calls,
    watches,
    credentials: (fresh = false) => credentials(fresh),
    trouble() {
      troubleAt = clock.monotonic();
    },
    sinceTrouble: () => clock.monotonic() - troubleAt,
    close() {
      calls.destroy();
      watches.destroy();
    },
  };
}
