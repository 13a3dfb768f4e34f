import {randomUUID} from 'node:crypto';
import type {Archive} from '../domain/archive.ts';
import type {Client, Log} from '../kube/ports.ts';
import type {ReviewToken} from '../kube/token-review.ts';
import type {FindApiKey} from './auth/api-keys.ts';
import {createAuthorizer} from './auth/authorize.ts';
import {createIdentify} from './auth/identify.ts';
import type {GatewayCaches} from './caches.ts';
import {createCalls} from './call.ts';
import {createWaits} from './connection.ts';
import {createGrants} from './grant.ts';
import type {Allowlists} from './http/guard.ts';
import {createKubeStore} from './kube-store.ts';
import {createMcp} from './mcp.ts';
import {createListener, type RunnerApi} from './routes.ts';
import {type RunningServer, type ServerParts, startServer} from './server.ts';
import {TOOLS} from './tools/index.ts';

/** Everything a gateway is made of; the composition root and the tests hand it over. */
export interface GatewayParts extends Omit<ServerParts, 'listener'> {
  readonly client: Client;
  readonly caches: GatewayCaches;
  readonly archive: Archive;
  readonly reviewToken: ReviewToken;
  readonly findApiKey: FindApiKey;
  readonly runnerApi: RunnerApi;
  readonly allowlists: Allowlists;
  readonly audiences: readonly string[];
  readonly version: string;
  readonly log: Log;
  /** How long `ask_user` blocks; never more than 50 s. */
  readonly askWaitMs: number;
  /** Requests worked on at once. */
  readonly maxInFlight?: number;
  readonly measure: (tool: string, result: string, seconds: number) => void;
  readonly answered: (route: string, status: number) => void;
}

/** Put the gateway together and listen. */
export async function startGateway(parts: GatewayParts): Promise<RunningServer> {
  const {client, caches, archive, clock, log} = parts;
  const waits = createWaits();
  // From a pool that Node fills in advance: every request takes one.
  const random = () => randomUUID().replaceAll('-', '');
  const store = createKubeStore({client, caches, clock});
  const authorize = createAuthorizer({client, clock});
  const calls = createCalls({...parts, tools: TOOLS, store, archive, authorize, random});
  const mcp = createMcp({calls, version: parts.version, log});
  const identify = createIdentify({...parts, sessions: caches.sessions});
  const listener = createListener({
    ...parts,
    identify,
    grantTools: createGrants(caches, TOOLS),
    random,
    waits,
    mcp: mcp.serve,
    rest: {calls, archive},
    maxInFlight: parts.maxInFlight ?? 2_000,
  });
  const endWaits = () => {
    parts.endWaits();
    waits.end();
  };
  const server = await startServer({...parts, listener, endWaits});
  return {
    ports: server.ports,
    async stop() {
      await server.stop();
      await mcp.close();
    },
  };
}
