// What controllers, gateway and egress may hold on to; controllers themselves: controller-ports.ts. The functions that make these things:
//   connection.ts  inCluster(files)                                       -> Connection   (kubeconfig.ts: fromKubeconfig, tests and tools)
//   client.ts      createClient({connection, fieldManager, log, ...})     -> Client
//   cache.ts       createCaches({connection, log, ...})                   -> Caches
//   controller.ts  defineController({...}), watch({...})                  -> ControllerDefinition; .start(runtime) in bin
//   status.ts      writeStatus(...)          conditions: src/api/condition-list.ts
//   events.ts      createRecorder({...})                                  -> Recorder
//   kinds.ts       Agents, Sessions, Turns, Questions; reviews.ts: TokenReviews, SubjectAccessReviews
//   builtin.ts     Pods, PersistentVolumeClaim, Secret, Lease, ... as Resource<T>
//   lease.ts       runLeader({...})                                       -> Leadership
import type {KubeObject, Manifest, ObjectRef} from '../api/kube-object.ts';
import type {Resource} from './resource.ts';

/** The part of pino that this layer uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Counters and gauges that this layer reports; telemetry gives them names. All calls are cheap and never throw. */
export interface KubeMetrics {
  request(call: {verb: string; resource: string; status: number; seconds: number; retries: number}): void;
  cacheSize(resource: string, objects: number): void;
  relist(resource: string, reason: string): void;
  watchEnd(resource: string, reason: string): void;
  queueDepth(queue: string, depth: number): void;
  reconcile(controller: string, result: 'done' | 'wait' | 'stalled' | 'error', seconds: number): void;
  eventDropped(): void;
}

/** One JSON Patch operation (RFC 6902); `test` is separate, see `JsonPatch.tests`. */
export type PatchOp =
  | {readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown}
  | {readonly op: 'remove'; readonly path: string}
  | {readonly op: 'copy'; readonly from: string; readonly path: string};

/** A conditional patch: refused as `TestFailed` unless the object has this uid and every tested path this value. */
export interface JsonPatch {
  /** Guards against a recreated object of the same name; always sent as `test /metadata/uid`. */
  readonly uid: string;
  /** Path -> value; null also matches a missing leaf, but not a missing parent. */
  readonly tests?: Readonly<Record<string, unknown>>;
  readonly ops: readonly PatchOp[];
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Limit for the whole call with its retries; default 30 s. */
  readonly timeoutMs?: number | undefined;
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Ask the server to check everything and store nothing. */
  readonly dryRun?: boolean | undefined;
  /** Refuse unknown fields (`fieldValidation=Strict`) instead of dropping them with a warning. */
  readonly strict?: boolean | undefined;
}

/** Which objects to list or watch. */
export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Delete only if; and how children go. */
export interface DeleteOptions extends WriteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** Reads that go to the API server. */
export interface LiveReader {
  /** Throws ApiError `NotFound` when there is none. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** Like get, but undefined when there is none. */
  find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T | undefined>;
  /** All objects, in pages of 500; starts over when a page token expires. */
  list<T extends KubeObject>(resource: Resource<T>, selection?: Selection, options?: CallOptions): Promise<Listed<T>>;
}

/** A whole list. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** The API server, typed. Every failure is an ApiError. Writes are retried only where a repetition cannot do harm. */
export interface Client extends LiveReader {
  /** Never retried after the request may have arrived: on `Unavailable` or `AlreadyExists` read live and compare owner and uid. */
  create<T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>, options?: WriteOptions): Promise<T>;
  /** 404 is thrown as `NotFound`; resolves when accepted, the object may still be terminating. */
  delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** Conditional JSON Patch of the status subresource: `TestFailed` when a test does not hold. */
  patchStatusJson<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: JsonPatch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Merge patch of the status, guarded by resourceVersion: `Conflict` when stale. The body is the content of `status`; null removes a field. */
  patchStatusMerge<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: {resourceVersion: string; status: object},
    options?: WriteOptions,
  ): Promise<T>;
  /** Merge patch of single spec fields; uid (a wrong one is refused as `Invalid`) and resourceVersion are optional guards. */
  patchSpecMerge<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: {uid?: string | undefined; resourceVersion?: string | undefined; spec: object},
    options?: WriteOptions,
  ): Promise<T>;
  /** Conditional JSON Patch of the main resource (labels, owner references, finalizers, data). */
  patchJson<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: JsonPatch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply under this process's field manager, for shared per-Agent objects; `force` takes over fields of others. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    manifest: Manifest<T>,
    options?: WriteOptions & {force?: boolean},
  ): Promise<T>;
  /** TokenReview, SubjectAccessReview and the like: posts `spec`, returns the review with its status. Never trust the HTTP code alone. */
  review<S extends object, R>(kind: ReviewKind<S, R>, spec: S, options?: CallOptions): Promise<R>;
}

/** A virtual object that is answered and never stored; `parse` checks the `status` of the answer. */
export interface ReviewKind<S extends object, R> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Never set: carries the type only. */
  readonly specType?: S;
  parse(status: unknown): R;
}

/** One change of a cache: added (no old), changed (both), removed (no new). A recreated name is a removal and an addition. */
export interface Change<T> {
  readonly old: T | undefined;
  readonly new: T | undefined;
}

/** Bounds of a wait. */
export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A local copy of one resource, kept up to date for ever. Objects are shared: never change them. */
export interface Cache<T extends KubeObject> {
  readonly resource: Resource<T>;
  get(ref: ObjectRef): T | undefined;
  /** All, or those of one namespace. */
  list(namespace?: string): readonly T[];
  /** Objects for which the named index function returned this key; throws for an unknown index. */
  byIndex(index: string, key: string): readonly T[];
  /** Called after the store has changed, in order; what it throws is logged. Returns the unsubscribe function. Existing objects are not replayed. */
  subscribe(listener: (change: Change<T>) => void): () => void;
  /** True once the first complete list is in; never false again. */
  synced(): boolean;
  /** True while a watch is established and its watchdog is content: false means the data may be old. */
  fresh(): boolean;
  /** Milliseconds for which it was not fresh; 0 while it is. */
  deafMs(): number;
  /** True when the cache contains, or has moved past, this write (resourceVersions compare as integers within one resource). */
  hasSeen(ref: ObjectRef, resourceVersion: string): boolean;
  /** Wait for the first complete list; false on time-out. */
  whenSynced(options: WaitOptions): Promise<boolean>;
  /** Wait until `hasSeen`; false on time-out. */
  waitFor(ref: ObjectRef, resourceVersion: string, options: WaitOptions): Promise<boolean>;
  /**
   * Wait until `probe` returns something other than undefined; it runs at once and after each change (only of `ref`, where given).
   * Undefined on time-out or abort; what `probe` throws rejects.
   */
  waitUntil<R>(
    probe: () => R | undefined,
    options: WaitOptions & {ref?: ObjectRef | undefined},
  ): Promise<R | undefined>;
}

/** How one resource is cached. */
export interface CacheOptions<T extends KubeObject> extends Selection {
  /** Drop what is never read from the cache (bodies); managedFields are always dropped. Runs once per event; returns the pruned object. */
  readonly prune?: (object: T) => T;
  /** Name -> function from an object to its keys. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
}

/** Reads that go to the caches only: cheap, and as old as the last watch event. */
export interface CachedReader {
  /** The cache of this resource; throws when it was never added. */
  of<T extends KubeObject>(resource: Resource<T>): Cache<T>;
  /** The cache of this resource, or undefined when it was never added. */
  find<T extends KubeObject>(resource: Resource<T>): Cache<T> | undefined;
}

/** All caches of a process. */
export interface Caches extends CachedReader {
  /** Register a resource before `start`; adding it twice throws. */
  add<T extends KubeObject>(resource: Resource<T>, options?: CacheOptions<T>): Cache<T>;
  start(): void;
  /** True when every cache is synced. */
  synced(): boolean;
  /** Milliseconds for which none was fresh; 0 while one is. */
  deafMs(): number;
  whenSynced(options: WaitOptions): Promise<boolean>;
  stop(): Promise<void>;
}

/** An Event about an object. */
export interface EventNote {
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** PascalCase fact, as in conditions. */
  readonly reason: string;
  /** PascalCase verb: what the controller did or tried. */
  readonly action: string;
  /** For people; cut at 1,024 characters. Same note = same Event with a count. */
  readonly note: string;
  readonly related?: KubeObject | undefined;
}

/** Writes Events; fire and forget, bounded, never throws. */
export interface Recorder {
  record(event: EventNote): void;
  /** Wait until all are written or dropped; for process exit and tests. */
  flush(options: WaitOptions): Promise<void>;
}

/** Leader election on a Lease. */
export interface Leadership {
  isLeader(): boolean;
  /** Resolves when stopped; releases the Lease if held. */
  stop(): Promise<void>;
}
