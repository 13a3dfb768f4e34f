// The fixtures behind the real door of a gateway: its ports, routes, guards, credentials and the front of both MCP eras.
import {randomUUID} from 'node:crypto';
import {createServer, request} from 'node:http';
import {createApiKeys} from '../../../src/gateway/auth/api-keys.ts';
import {createIdentify} from '../../../src/gateway/auth/identify.ts';
import {createWaits} from '../../../src/gateway/connection.ts';
import {createGrants} from '../../../src/gateway/grant.ts';
import {createMcpFront} from '../../../src/gateway/mcp.ts';
import {createListener} from '../../../src/gateway/routes.ts';
import {type RunningServer, startServer} from '../../../src/gateway/server.ts';
import {closeGracefully, listen} from '../../../src/http/listen.ts';
import {createClient} from '../../../src/kube/client.ts';
import {systemClock} from '../../../src/kube/clock.ts';
import {createTokenReviewer} from '../../../src/kube/token-review.ts';
import {type GatewayFixture, KEY} from '../gateway-fixture.ts';
import {keptLog} from '../log.ts';
import {buildFixtureServer} from './server.ts';

/** Open the door before the fixture tools; credentials are those of `fixture`. */
export async function startFixtureFront(fixture: GatewayFixture, origins: readonly string[]): Promise<RunningServer> {
  const log = keptLog();
  const client = createClient({connection: fixture.api.connection, fieldManager: 'carrel-gateway', log});
  const front = createMcpFront({log, build: buildFixtureServer});
  const nothing = {read: async () => ({records: []})};
  const listener = createListener({
    identify: createIdentify({
      client,
      reviewToken: createTokenReviewer({client, clock: systemClock}),
      findApiKey: createApiKeys({path: fixture.keysFile, clock: systemClock, log}),
      sessions: fixture.caches.sessions,
      audiences: [],
    }),
    grantTools: createGrants(fixture.caches, []),
    log,
    random: randomUUID,
    waits: createWaits(),
    allowlists: {hosts: ['localhost'], origins},
    mcp: front.serve,
    rest: {calls: {list: async () => [], call: async () => ({kind: 'hidden'})}, archive: nothing},
    runnerApi: async (_req, res) => void res.writeHead(404).end(),
    maxInFlight: 100,
    answered: () => undefined,
  });
  const server = await startServer({
    listener,
    ready: () => undefined,
    metrics: async () => '',
    endWaits: () => undefined,
    ports: {main: 0, canary: 0, health: 0},
    clock: systemClock,
    lameDuckMs: 0,
    drainMs: 1_000,
  });
  return {
    ports: server.ports,
    async stop() {
      await front.close();
      await server.stop();
    },
  };
}

/** The runner of the scenarios cannot send a credential: this puts it in, and changes nothing else. */
export async function startKeyProxy(): Promise<{port: number; aim(port: number): void; close(): Promise<void>}> {
  let target = 0;
  const proxy = createServer((req, res) => {
    const headers = {...req.headers, authorization: `Bearer ${KEY}`};
    const {method, url} = req;
    const sent = request({host: '127.0.0.1', port: target, method, path: url, headers}, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
    });
    sent.on('error', () => res.destroy());
    res.on('close', () => sent.destroy());
    req.pipe(sent);
  });
  const port = await listen(proxy, 0, '127.0.0.1');
  return {
    port,
    aim(to) {
      target = to;
    },
    close: () => closeGracefully(proxy, 0),
  };
}
