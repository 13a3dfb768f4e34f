import {FIELD_MANAGER} from '../api/meta.ts';
import {readEgressConfig} from '../config/egress.ts';
import {addEgressCaches} from '../egress/caches.ts';
import {createCanary} from '../egress/canary.ts';
import {clusterRanges} from '../egress/cluster-ranges.ts';
import {createRelay} from '../egress/relay.ts';
import {createResolve} from '../egress/resolve.ts';
import {createHealthServer} from '../http/health.ts';
import {listen} from '../http/listen.ts';
import {createCaches} from '../kube/cache.ts';
import {createClient} from '../kube/client.ts';
import {systemClock} from '../kube/clock.ts';
import {connectTo} from '../kube/connect.ts';
import {cutOffFor} from '../kube/cut-off.ts';
import {createTokenReviewer} from '../kube/token-review.ts';
import {createLogger} from '../telemetry/logger.ts';
import {createMetrics} from '../telemetry/metrics.ts';

const config = readEgressConfig();
const log = createLogger('egress', config.logLevel);
const metrics = createMetrics();

const connection = await connectTo(config.kubernetes);
const client = createClient({connection, fieldManager: FIELD_MANAGER.egress, log, metrics: metrics.kube});
const caches = createCaches({connection, log, metrics: metrics.kube});
const cached = addEgressCaches(caches);
const cluster = () => clusterRanges({configured: config.clusterRanges, ...cached});
const relay = createRelay({
  client,
  caches: cached,
  reviewToken: createTokenReviewer({client, clock: systemClock}),
  resolve: createResolve({clusterDomain: config.clusterDomain}),
  cluster,
  allowPrivate: config.allowPrivate,
  limits: config.limits,
  log,
  metrics: {
    tunnel: (purpose, code) => metrics.counters.egressTunnels.inc({purpose, code}),
    bytes(purpose, {up, down}) {
      metrics.counters.egressBytes.inc({purpose, direction: 'up'}, up);
      metrics.counters.egressBytes.inc({purpose, direction: 'down'}, down);
    },
    open: (tunnels) => metrics.gauges.egressOpen.set(tunnels),
  },
});
const canary = createCanary();
let stopping = false;
const health = createHealthServer({
  metrics: () => metrics.registry.metrics(),
  async ready() {
    if (stopping) return 'stopping';
    if (!cached.sessions.synced() || !cached.revisions.synced()) return 'sessions and revisions are not listed yet';
    const ranges = cluster();
    return ranges.known ? cutOffFor(caches) : ranges.why;
  },
});

caches.start();
const port = await listen(relay.server, config.port);
const canaryPort = await listen(canary, config.canaryPort);
const healthPort = await listen(health, config.healthPort);
log.info({port, canaryPort, healthPort}, 'egress relay is listening');

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

// Tunnels carry model calls of minutes: what can end by itself within the grace does, the rest is cut.
async function stop(signal: string): Promise<void> {
  stopping = true;
  log.info({signal, tunnels: relay.tunnels.size()}, 'stopping');
  canary.close();
  const cut = setTimeout(() => relay.tunnels.cutAll(), 20_000);
  await new Promise<void>((resolve) => {
    relay.server.close(() => resolve());
    relay.server.closeIdleConnections();
  });
  clearTimeout(cut);
  await caches.stop();
  connection.close();
  health.close();
  health.closeAllConnections();
}
