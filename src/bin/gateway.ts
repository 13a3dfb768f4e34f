import {readFileSync} from 'node:fs';
import {FIELD_MANAGER} from '../api/meta.ts';
import {createArchiveClient} from '../archive-client/index.ts';
import {readGatewayConfig} from '../config/gateway.ts';
import {createApiKeys} from '../gateway/auth/api-keys.ts';
import {addGatewayCaches} from '../gateway/caches.ts';
import {startGateway} from '../gateway/gateway.ts';
import {createRunnerApi} from '../gateway/runner-api/index.ts';
import {createCaches} from '../kube/cache.ts';
import {createClient} from '../kube/client.ts';
import {systemClock} from '../kube/clock.ts';
import {connectTo} from '../kube/connect.ts';
import {unready} from '../kube/cut-off.ts';
import {createTokenReviewer} from '../kube/token-review.ts';
import {createLogger} from '../telemetry/logger.ts';
import {createMetrics} from '../telemetry/metrics.ts';

const config = readGatewayConfig();
const log = createLogger('gateway', config.logLevel);
const metrics = createMetrics();

const connection = await connectTo(config.kubernetes);
const client = createClient({connection, fieldManager: FIELD_MANAGER.gateway, log, metrics: metrics.kube});
const allCaches = createCaches({connection, log, metrics: metrics.kube});
const caches = addGatewayCaches(allCaches);
const archive = createArchiveClient({
  url: config.archive.url,
  token: () => readFileSync(config.archive.tokenFile, 'utf8').trim(),
});
const reviewToken = createTokenReviewer({client, clock: systemClock});
const runnerApi = createRunnerApi({
  client,
  caches,
  reviewToken,
  archive,
  log,
  clock: systemClock,
  count(type, reason) {
    if (reason === undefined) metrics.counters.runnerEvents.inc({type});
    else metrics.counters.runnerEventsDropped.inc({type, reason});
  },
});
allCaches.start();

const gateway = await startGateway({
  client,
  caches,
  archive,
  reviewToken,
  findApiKey: createApiKeys({path: config.apiKeysFile, clock: systemClock, log}),
  runnerApi,
  allowlists: config.allowlists,
  audiences: config.audiences,
  version: '0.1.0',
  clock: systemClock,
  log,
  askWaitMs: config.askWaitMs,
  ports: config.ports,
  lameDuckMs: config.lameDuckMs,
  drainMs: config.drainMs,
  ready: () => unready(allCaches),
  endWaits: () => void runnerApi.drain(config.drainMs / 2),
  async metrics() {
    metrics.gauges.runnerStreams.set(runnerApi.streams());
    return await metrics.registry.metrics();
  },
  measure(tool, result, seconds) {
    metrics.counters.toolCalls.inc({tool, result});
    metrics.times.toolSeconds.observe({tool}, seconds);
  },
  answered: (route, status) => metrics.counters.httpRequests.inc({route, status}),
});
log.info({...gateway.ports}, 'gateway is listening');

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

async function stop(signal: string): Promise<void> {
  log.info({signal}, 'stopping');
  await gateway.stop();
  await allCaches.stop();
  archive.close();
  connection.close();
}
