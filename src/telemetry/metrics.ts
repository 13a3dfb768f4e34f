import {Counter, collectDefaultMetrics, Gauge, Histogram, Registry} from 'prom-client';

/** Every metric of every process: name, labels and help stand here and nowhere else. Labels never hold names of objects. */
const METRICS = {
  kubeRequests: ['carrel_kube_requests_total', 'Requests to the API server.', ['verb', 'resource', 'status']],
  kubeRetries: ['carrel_kube_retries_total', 'Repeated requests to the API server.', ['verb', 'resource']],
  kubeRelists: ['carrel_kube_relists_total', 'Full lists of a resource.', ['resource', 'reason']],
  kubeWatchEnds: ['carrel_kube_watch_ends_total', 'Watches that ended.', ['resource', 'reason']],
  eventsDropped: ['carrel_kube_events_dropped_total', 'Events that were not written.', []],
  reconciles: ['carrel_reconciles_total', 'Reconciles by result.', ['controller', 'result']],
  httpRequests: ['carrel_http_requests_total', 'Requests answered.', ['route', 'status']],
  archiveRecords: ['carrel_archive_records_total', 'Records stored.', []],
  archiveGaps: ['carrel_archive_gaps_total', 'Appends refused because records before them are missing.', []],
  archiveFull: ['carrel_archive_full_total', 'Appends refused because the volume is full.', []],
  runnerEvents: ['carrel_runner_events_total', 'Events taken from runners.', ['type']],
  runnerEventsDropped: ['carrel_runner_events_dropped_total', 'Events that changed no object.', ['type', 'reason']],
  toolCalls: ['carrel_tool_calls_total', 'Tool calls by result.', ['tool', 'result']],
  egressTunnels: ['carrel_egress_tunnels_total', 'Requests for a tunnel.', ['purpose', 'code']],
  egressBytes: ['carrel_egress_bytes_total', 'Bytes relayed.', ['purpose', 'direction']],
} as const satisfies Record<string, readonly [string, string, readonly string[]]>;

const GAUGES = {
  cacheObjects: ['carrel_kube_cache_objects', 'Objects in a cache.', ['resource']],
  queueDepth: ['carrel_queue_depth', 'Keys that wait in a work queue.', ['queue']],
  leader: ['carrel_leader', '1 while this process holds the lease.', []],
  runnerStreams: ['carrel_runner_streams', 'Open streams to runners.', []],
  egressOpen: ['carrel_egress_open', 'Open tunnels.', []],
} as const satisfies Record<string, readonly [string, string, readonly string[]]>;

const TIMES = {
  kubeSeconds: ['carrel_kube_request_seconds', 'Time of a request to the API server.', ['verb', 'resource']],
  reconcileSeconds: ['carrel_reconcile_seconds', 'Time of a reconcile.', ['controller']],
  toolSeconds: ['carrel_tool_call_seconds', 'Time of a tool call.', ['tool']],
} as const satisfies Record<string, readonly [string, string, readonly string[]]>;

/** All metrics of a process, and the registry that prints them. */
export interface Metrics {
  readonly registry: Registry;
  readonly counters: Readonly<Record<keyof typeof METRICS, Counter>>;
  readonly gauges: Readonly<Record<keyof typeof GAUGES, Gauge>>;
  readonly times: Readonly<Record<keyof typeof TIMES, Histogram>>;
  /** What `src/kube` reports, under these names. */
  readonly kube: KubeSink;
}

interface KubeSink {
  request(call: {verb: string; resource: string; status: number; seconds: number; retries: number}): void;
  cacheSize(resource: string, objects: number): void;
  relist(resource: string, reason: string): void;
  watchEnd(resource: string, reason: string): void;
  queueDepth(queue: string, depth: number): void;
  reconcile(controller: string, result: 'done' | 'wait' | 'stalled' | 'error', seconds: number): void;
  eventDropped(): void;
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Make the metrics of this process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({register: registry});
  const shape = ([name, help, labelNames]: readonly [string, string, readonly string[]]) => ({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  });
  const counters = mapValues(METRICS, (m) => new Counter(shape(m)));
  const gauges = mapValues(GAUGES, (m) => new Gauge(shape(m)));
  const times = mapValues(TIMES, (m) => new Histogram({...shape(m), buckets: BUCKETS}));
  return {registry, counters, gauges, times, kube: kubeSink({counters, gauges, times})};
}

function kubeSink({counters, gauges, times}: Pick<Metrics, 'counters' | 'gauges' | 'times'>): KubeSink {
  return {
    request({verb, resource, status, seconds, retries}) {
      counters.kubeRequests.inc({verb, resource, status});
      if (retries > 0) counters.kubeRetries.inc({verb, resource});
      times.kubeSeconds.observe({verb, resource}, seconds);
    },
    cacheSize: (resource, objects) => gauges.cacheObjects.set({resource}, objects),
    relist: (resource, reason) => counters.kubeRelists.inc({resource, reason}),
    watchEnd: (resource, reason) => counters.kubeWatchEnds.inc({resource, reason}),
    queueDepth: (queue, depth) => gauges.queueDepth.set({queue}, depth),
    reconcile(controller, result, seconds) {
      counters.reconciles.inc({controller, result});
      times.reconcileSeconds.observe({controller}, seconds);
    },
    eventDropped: () => counters.eventsDropped.inc(),
  };
}

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, make: (value: V) => R): Record<K, R> {
  const result: Partial<Record<K, R>> = {};
  for (const key in record) result[key] = make(record[key]);
  return complete(result, Object.keys(record));
}

function complete<K extends string, R>(partial: Partial<Record<K, R>>, keys: readonly string[]): Record<K, R> {
  if (isComplete(partial, keys)) return partial;
  throw new Error('a metric is missing');
}

function isComplete<K extends string, R>(p: Partial<Record<K, R>>, keys: readonly string[]): p is Record<K, R> {
  return keys.every((key) => key in p);
}
