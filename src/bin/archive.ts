import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {FIELD_MANAGER} from '../api/meta.ts';
import {startRetention} from '../archive/retention.ts';
import {createArchiveServer} from '../archive/server.ts';
import {openSqliteStore} from '../archive/sqlite-store.ts';
import {readArchiveConfig} from '../config/archive.ts';
import {createHealthServer} from '../http/health.ts';
import {closeGracefully, listen} from '../http/listen.ts';
import {createClient} from '../kube/client.ts';
import {systemClock} from '../kube/clock.ts';
import {connectTo} from '../kube/connect.ts';
import {Sessions} from '../kube/kinds.ts';
import {createTokenReviewer} from '../kube/token-review.ts';
import {createLogger} from '../telemetry/logger.ts';
import {createMetrics} from '../telemetry/metrics.ts';

const config = readArchiveConfig();
const log = createLogger('archive', config.logLevel);
const metrics = createMetrics();

mkdirSync(config.data, {recursive: true});
const store = openSqliteStore(join(config.data, 'archive.sqlite'));
const connection = await connectTo(config.kubernetes);
const client = createClient({connection, fieldManager: FIELD_MANAGER.archive, log, metrics: metrics.kube});
// The pod is not ready then, and its log says why: the kubelet shows no answer of a probe. Appends go on being tried, and the
// first one that fits ends it.
let full = false;
const server = createArchiveServer({
  store,
  callers: config.callers,
  reviewToken: createTokenReviewer({client, clock: systemClock}),
  log,
  metrics: {
    stored(records) {
      full = false;
      metrics.counters.archiveRecords.inc(records);
    },
    full() {
      full = true;
      metrics.counters.archiveFull.inc();
    },
    gap: () => metrics.counters.archiveGaps.inc(),
    answered: (route, status) => metrics.counters.httpRequests.inc({route, status}),
  },
});
let stopping = false;
const health = createHealthServer({
  metrics: () => metrics.registry.metrics(),
  async ready() {
    if (stopping) return 'stopping';
    await store.check();
    if (full) return 'the volume of the archive is full: enlarge it, or lower archive.retention';
    return undefined;
  },
});

const port = await listen(server, config.port);
const healthPort = await listen(health, config.healthPort);
log.info({port, healthPort, data: config.data, callers: config.callers}, 'archive is listening');

const endRetention =
  config.keepMs === undefined
    ? () => undefined
    : startRetention({
        store,
        keepMs: config.keepMs,
        now: systemClock.now,
        after: systemClock.after,
        log,
        isAlive: async ({namespace, name, uid}) =>
          (await client.find(Sessions, {namespace, name}))?.metadata.uid === uid,
      });

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));

async function stop(signal: string): Promise<void> {
  stopping = true;
  endRetention();
  log.info({signal}, 'stopping');
  await closeGracefully(server, 10_000);
  await store.close();
  connection.close();
  health.close();
  health.closeAllConnections();
}
