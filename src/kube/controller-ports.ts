// What a controller is made of and given. `defineController` and `watch` in controller.ts make these things.
import type {KubeObject} from '../api/kube-object.ts';
import type {Outcome} from '../api/outcome.ts';
import type {Clock} from './clock.ts';
import type {CachedReader, Caches, Change, Client, KubeMetrics, Log, Recorder} from './ports.ts';
import type {Resource} from './resource.ts';

/** The name of one piece of work. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** What a reconcile is given. Order inside: observe all, plan, apply, one status patch, events. */
export interface ReconcileInput<T extends KubeObject> {
  readonly key: Key;
  /** The cached object (pruned): read bodies live. It may be terminating. */
  readonly object: T;
  /** Cached reads. */
  readonly read: CachedReader;
  /** Live reads and writes; writes are remembered: the key does not run again until the caches have seen them (bounded). */
  readonly write: Client;
  readonly events: Recorder;
  /** Fixed for one reconcile. */
  readonly now: Date;
  readonly log: Log;
  /** Aborts when leadership is lost or the process stops. */
  readonly signal: AbortSignal;
}

/** Something else whose changes wake keys. */
export interface Watch<U extends KubeObject> {
  readonly resource: Resource<U>;
  /** Keys to wake; called with the old and the new object of each change. */
  readonly enqueue: (object: U, read: CachedReader) => readonly Key[];
}

/** One controller: which kind, what wakes it, what it does. */
export interface ControllerSpec<T extends KubeObject> {
  readonly name: string;
  readonly resource: Resource<T>;
  /** Made with `watch(resource, enqueue)`. */
  readonly watches?: readonly AnyWatch[];
  /** Which changes of an object wake its own key; default all. The first list and the resync always do. */
  readonly wakes?: (change: Change<T>) => boolean;
  /** Keys worked on at once; default 4. One key is never worked on twice at once. */
  readonly workers?: number;
  /** Every object again, spread over this time; default 10 min; heals missed events. */
  readonly resyncMs?: number;
  reconcile(input: ReconcileInput<T>): Promise<Outcome>;
  /** Called when a key has no object any more (cleanup of process memory only). */
  readonly gone?: (key: Key) => void;
}

/** A watch with its type hidden, so that watches of several kinds fit one list. */
export interface AnyWatch {
  attach(read: CachedReader, wake: (key: Key) => void): () => void;
}

/** A controller with its type hidden. */
export interface ControllerDefinition {
  readonly name: string;
  start(runtime: ControllerRuntime): RunningController;
}

/** What all controllers of a process share. */
export interface ControllerRuntime {
  readonly caches: Caches;
  readonly client: Client;
  readonly events: Recorder;
  readonly log: Log;
  readonly metrics?: KubeMetrics;
  /** Ends with the leadership: then the calls of running reconciles are aborted at once. */
  readonly term: AbortSignal;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** A controller at work. */
export interface RunningController {
  readonly name: string;
  enqueue(key: Key): void;
  /** Work queued or running now; 0 = settled (timers for later do not count). */
  pending(): number;
  /** Stop intake, let running reconciles end (bounded), resolve. */
  stop(): Promise<void>;
}
