import type {KubeObject} from '../api/kube-object.ts';
import type {Outcome} from '../api/outcome.ts';
import {type Clock, systemClock} from './clock.ts';
import type {
  AnyWatch,
  ControllerDefinition,
  ControllerRuntime,
  ControllerSpec,
  Key,
  RunningController,
  Watch,
} from './controller-ports.ts';
import {isApiError} from './errors.ts';
import {createFence, type Fence} from './fence.ts';
import {refKey} from './path.ts';
import type {CachedReader, Caches, Change, Log} from './ports.ts';
import {createQueue, type Priority, type Queue, type WorkResult} from './queue.ts';

/** Say which keys wake when another kind changes; the type of that kind is hidden, so that several fit one list. */
export function watch<U extends KubeObject>({resource, enqueue}: Watch<U>): AnyWatch {
  return {
    attach(read, wake) {
      return read.of(resource).subscribe((change) => {
        wakeSides(change, (side) => enqueue(side, read), wake);
      });
    },
  };
}

/**
 * Wakes the keys of both sides of a change: a child that changed owners wakes the old one too. Each key once, because the
 * first call may start its work at once, and the second would then ask for another round.
 */
export function wakeSides<U extends KubeObject>(
  change: Change<U>,
  keys: (side: U) => readonly Key[],
  wake: (key: Key) => void,
): void {
  const sides = [change.old, change.new].flatMap((side) => (side === undefined ? [] : keys(side)));
  for (const key of new Map(sides.map((k) => [textOf(k), k])).values()) wake(key);
}

/** Describe a controller; nothing runs until it is started with a runtime. */
export function defineController<T extends KubeObject>(spec: ControllerSpec<T>): ControllerDefinition {
  return {name: spec.name, start: (runtime) => startController(spec, runtime)};
}

const WORKERS = 4;
const RESYNC_MS = 600_000;
// A cache that lags more than this is reported and no longer waited for: preconditions still protect every write.
const FENCE_MS = 10_000;
const UNSYNCED_MS = 1_000;
const RECONCILE_MS = 120_000;
const STOP_MS = 10_000;

interface Run<T extends KubeObject> {
  readonly spec: ControllerSpec<T>;
  readonly runtime: ControllerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly caches: Caches;
  readonly fences: Map<string, Fence>;
  /** Keys that wait for their fence just now. */
  readonly fenced: Set<string>;
  /** Aborts every call of every reconcile: the process stops, or its term as leader is over. */
  readonly ending: AbortSignal;
}

function startController<T extends KubeObject>(spec: ControllerSpec<T>, runtime: ControllerRuntime): RunningController {
  const {caches, log, metrics} = runtime;
  const clock = runtime.clock ?? systemClock;
  const stopping = new AbortController();
  const run: Run<T> = {
    spec,
    runtime,
    clock,
    log,
    caches,
    fences: new Map(),
    fenced: new Set(),
    ending: AbortSignal.any([stopping.signal, runtime.term]),
  };
  const queue: Queue = createQueue({
    clock,
    workers: spec.workers ?? WORKERS,
    work: (key) => work(run, key, queue),
    failed: (key, error, retry) => logFailure(run, {key, error, ...retry}),
    atLeast: (error) => (isApiError(error) ? (error.facts.retryAfterSeconds ?? 0) * 1_000 : 0),
    depth: (keys) => metrics?.queueDepth(spec.name, keys),
  });
  const cache = caches.of(spec.resource);
  const detach = [
    cache.subscribe((change) => {
      const object = change.new ?? change.old;
      if (object === undefined || spec.wakes?.(change) === false) return;
      queue.add(refKey(object.metadata), priorityOf(cache.synced(), change));
    }),
    ...(spec.watches ?? []).map((other) => other.attach(caches, (key) => queue.add(textOf(key), 'high'))),
  ];
  for (const object of cache.list()) queue.add(refKey(object.metadata));
  detach.push(resync(run, queue));
  return {
    name: spec.name,
    enqueue: (key) => queue.add(textOf(key), 'high'),
    pending: () => queue.pending(),
    async stop() {
      for (const end of detach) end();
      const drained = queue.stop();
      // Running reconciles get some time to end by themselves; then their calls are aborted.
      const cancel = clock.after(STOP_MS, () => stopping.abort());
      await drained;
      cancel();
      stopping.abort();
    },
  };
}

// What people change is interactive; the first list and pure status echoes are not.
function priorityOf(synced: boolean, {old, new: now}: Change<KubeObject>): Priority {
  if (!synced) return 'normal';
  if (old === undefined || now === undefined) return 'high';
  const terminating = now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp;
  return terminating || now.metadata.generation !== old.metadata.generation ? 'high' : 'normal';
}

function resync<T extends KubeObject>({spec, clock, caches}: Run<T>, queue: Queue): () => void {
  const period = spec.resyncMs ?? RESYNC_MS;
  let cancel = () => {};
  const round = () => {
    const all = caches.of(spec.resource).list();
    for (const [n, object] of all.entries()) queue.addAfter(refKey(object.metadata), (n * period) / all.length);
    cancel = clock.after(period, round);
  };
  cancel = clock.after(period, round);
  return () => cancel();
}

async function work<T extends KubeObject>(run: Run<T>, text: string, queue: Queue): Promise<WorkResult> {
  const {spec, runtime, clock, caches, fences} = run;
  if (!caches.synced()) return UNSYNCED_MS;
  const fence = fences.get(text) ?? createFence(caches, clock);
  if (!fence.open()) {
    if (!run.fenced.has(text)) void passFence(run, text, {fence, queue});
    return 'not now';
  }
  const key = keyOf(text);
  const object = caches.of(spec.resource).get(key.namespace === '' ? {name: key.name} : key);
  if (object === undefined) {
    fences.delete(text);
    spec.gone?.(key);
    return undefined;
  }
  fences.set(text, fence);
  const started = clock.monotonic();
  const report = (result: Outcome['kind'] | 'error') =>
    runtime.metrics?.reconcile(spec.name, result, (clock.monotonic() - started) / 1_000);
  try {
    const outcome = await reconcile(run, key, {object, fence});
    report(outcome.kind);
    return outcome.kind === 'wait' ? Math.max(0, outcome.afterMs) : undefined;
  } catch (error) {
    // Final: everything in the namespace is going away, this object too.
    if (isApiError(error, 'NamespaceTerminating')) {
      report('done');
      return undefined;
    }
    report('error');
    throw error;
  } finally {
    if (fence.open()) fences.delete(text);
  }
}

async function reconcile<T extends KubeObject>(
  run: Run<T>,
  key: Key,
  {object, fence}: {object: T; fence: Fence},
): Promise<Outcome> {
  const {spec, runtime, clock, caches, ending} = run;
  const late = new AbortController();
  const cancel = clock.after(RECONCILE_MS, () => {
    run.log.error(
      {controller: spec.name, object: textOf(key)},
      `reconcile takes more than ${RECONCILE_MS / 1_000} s: its calls are aborted`,
    );
    late.abort();
  });
  const signal = AbortSignal.any([ending, late.signal]);
  const read: CachedReader = caches;
  try {
    return await spec.reconcile({
      key,
      object,
      read,
      write: fence.guard(runtime.client, signal),
      events: runtime.events,
      now: new Date(clock.now()),
      log: run.log,
      signal,
    });
  } finally {
    cancel();
  }
}

// Outside the workers, so that a lagging cache holds up its own keys only.
async function passFence<T extends KubeObject>(
  run: Run<T>,
  key: string,
  {fence, queue}: {fence: Fence; queue: Queue},
): Promise<void> {
  run.fenced.add(key);
  const passed = await fence.pass(FENCE_MS);
  run.fenced.delete(key);
  if (!passed)
    run.log.warn(
      {controller: run.spec.name, object: key},
      `caches have not shown the last write after ${FENCE_MS / 1_000} s`,
    );
  queue.add(key, 'high');
}

// These are how optimistic writes say "look again", not faults.
function logFailure<T extends KubeObject>(
  {spec, log, ending}: Run<T>,
  {key, error, failures, delayMs}: {key: string; error: unknown; failures: number; delayMs: number},
): void {
  // A refusal of the API server says everything in one line; anything else is a fault of ours and needs its stack.
  const what = isApiError(error) ? {error: error.message} : {err: error};
  const facts = {controller: spec.name, object: key, failures, delayMs: Math.round(delayMs), ...what};
  if (ending.aborted) log.debug(facts, 'reconcile aborted');
  else if (isApiError(error, 'Conflict', 'TestFailed', 'Terminating', 'AlreadyExists') && failures < 5) {
    log.debug(facts, 'reconcile met another write');
  } else log.warn(facts, 'reconcile failed');
}

function textOf(key: Key): string {
  return key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;
}

function keyOf(text: string): Key {
  const slash = text.indexOf('/');
  return slash < 0 ? {namespace: '', name: text} : {namespace: text.slice(0, slash), name: text.slice(slash + 1)};
}
