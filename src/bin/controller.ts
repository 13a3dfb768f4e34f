import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {FIELD_MANAGER} from '../api/meta.ts';
import {createArchiveClient} from '../archive-client/index.ts';
import {readControllerConfig} from '../config/controller.ts';
import {allControllers} from '../controllers/all.ts';
import {addControllerCaches} from '../controllers/caches.ts';
import {Delivery} from '../controllers/delivery.ts';
import {releasePods} from '../controllers/release-pods.ts';
import {createHealthServer} from '../http/health.ts';
import {listen} from '../http/listen.ts';
import {createCaches} from '../kube/cache.ts';
import {createClient} from '../kube/client.ts';
import {connectTo} from '../kube/connect.ts';
import type {RunningController} from '../kube/controller-ports.ts';
import {unready} from '../kube/cut-off.ts';
import {createRecorder} from '../kube/events.ts';
import {runLeader} from '../kube/lease.ts';
import {createLogger} from '../telemetry/logger.ts';
import {createMetrics} from '../telemetry/metrics.ts';

const config = readControllerConfig();
const log = createLogger('controller', config.logLevel);
const metrics = createMetrics();

const connection = await connectTo(config.kubernetes);
const parts = {connection, fieldManager: FIELD_MANAGER.controller, log, metrics: metrics.kube};
// Every write of the controllers asks the election first, and again before each repetition: a process that was frozen must
// not write when it wakes up.
const client = createClient({...parts, mayWrite: () => leadership.isLeader()});
const caches = createCaches({connection, log, metrics: metrics.kube});
addControllerCaches(caches, {releaseNamespace: config.releaseNamespace});
const events = createRecorder({
  client,
  controller: 'carrel.dev/controller',
  instance: config.podName,
  log,
  metrics: metrics.kube,
});
const archive = createArchiveClient({
  url: config.archive.url,
  token: () => readFileSync(config.archive.tokenFile, 'utf8').trim(),
});

let running: RunningController[] = [];
const leadership = runLeader({
  client: createClient(parts),
  namespace: config.releaseNamespace,
  name: config.lease,
  identity: `${config.podName}_${randomUUID()}`,
  log,
  started(term) {
    metrics.gauges.leader.set(1);
    const runtime = {caches, client, events, log, metrics: metrics.kube, term};
    // Made anew for each term: what the last one remembered about delivery and sweeping may be old.
    const definitions = allControllers({
      archive,
      delivery: new Delivery(config.delivery),
      endpoints: config.endpoints,
      release: releasePods(config.endpoints),
      runtimeImage: config.runtimeImage,
      accessMode: config.accessMode,
      range: config.agentUids,
    });
    running = definitions.map((definition) => definition.start(runtime));
    log.info({controllers: running.map((c) => c.name)}, 'leading');
  },
  async stopped() {
    metrics.gauges.leader.set(0);
    const ending = running;
    running = [];
    await Promise.all(ending.map((controller) => controller.stop()));
    log.info({}, 'no longer leading');
  },
});
caches.start();

const health = createHealthServer({
  metrics: () => metrics.registry.metrics(),
  // A follower is ready too: it takes over the moment the leader is gone.
  ready: () => Promise.resolve(unready(caches)),
});
const healthPort = await listen(health, config.healthPort);
log.info({healthPort, namespace: config.releaseNamespace}, 'controller is up');

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

async function stop(signal: string): Promise<void> {
  log.info({signal}, 'stopping');
  await events.flush({timeoutMs: 2_000});
  await leadership.stop();
  await caches.stop();
  archive.close();
  connection.close();
  health.close();
  health.closeAllConnections();
}
