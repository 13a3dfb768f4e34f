import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import type {Clock} from './clock.ts';
import type {CachedReader, Client, DeleteOptions} from './ports.ts';
import type {Resource} from './resource.ts';

/** Remembers what one key has written, until the caches show it. */
export interface Fence {
  /** A client whose writes are remembered, and which gives up with `signal`. */
  guard(client: Client, signal: AbortSignal): Client;
  /** True when the caches have seen every write; forgets those that they have. */
  open(): boolean;
  /** Wait until open; false on time-out, and then everything is forgotten: late is better than never. */
  pass(timeoutMs: number): Promise<boolean>;
}

interface Pending {
  readonly seen: () => boolean;
  readonly wait: (timeoutMs: number) => Promise<boolean>;
}

/** Make the fence of one key. */
export function createFence(read: CachedReader, clock: Clock): Fence {
  let pending: Pending[] = [];
  const open = () => {
    pending = pending.filter((write) => !write.seen());
    return pending.length === 0;
  };
  return {
    guard: (client, signal) =>
      guarded(
        client,
        signal,
        note(read, (write) => pending.push(write)),
      ),
    open,
    async pass(timeoutMs) {
      const until = clock.monotonic() + timeoutMs;
      for (const write of [...pending]) await write.wait(Math.max(0, until - clock.monotonic()));
      const passed = open();
      pending = [];
      return passed;
    },
  };
}

interface Notes {
  written<T extends KubeObject>(resource: Resource<T>, object: T): T;
  deleted(resource: Resource<KubeObject>, ref: ObjectRef, uid: string | undefined): void;
}

function note(read: CachedReader, push: (write: Pending) => void): Notes {
  return {
    written(resource, object) {
      const {namespace, name, resourceVersion} = object.metadata;
      const ref = {namespace, name};
      const cache = read.find(resource);
      if (cache !== undefined) {
        push({
          seen: () => cache.hasSeen(ref, resourceVersion),
          wait: (timeoutMs) => cache.waitFor(ref, resourceVersion, {timeoutMs}),
        });
      }
      return object;
    },
    deleted(resource, ref, uid) {
      const cache = read.find(resource);
      const held = cache?.get(ref);
      if (cache === undefined || held === undefined || (uid !== undefined && held.metadata.uid !== uid)) return;
      const seen = () => {
        const now = cache.get(ref);
        return now?.metadata.uid !== held.metadata.uid || now.metadata.deletionTimestamp !== undefined;
      };
      const wait = async (timeoutMs: number) =>
        (await cache.waitUntil(() => seen() || undefined, {timeoutMs, ref})) === true;
      push({seen, wait});
    },
  };
}

function guarded(client: Client, signal: AbortSignal, notes: Notes): Client {
  const within = <O extends {signal?: AbortSignal | undefined; dryRun?: boolean | undefined}>(
    options: O | undefined,
  ) => ({
    ...options,
    signal: options?.signal === undefined ? signal : AbortSignal.any([signal, options.signal]),
  });
  const kept = async <T extends KubeObject>(
    resource: Resource<T>,
    written: Promise<T>,
    dryRun: boolean | undefined,
  ) => {
    const object = await written;
    return dryRun === true ? object : notes.written(resource, object);
  };
  return {
    get: (resource, ref, options) => client.get(resource, ref, within(options)),
    find: (resource, ref, options) => client.find(resource, ref, within(options)),
    list: (resource, selection, options) => client.list(resource, selection, within(options)),
    review: (kind, spec, options) => client.review(kind, spec, within(options)),
    create: (resource, manifest, options) =>
      kept(resource, client.create(resource, manifest, within(options)), options?.dryRun),
    patchStatusJson: (resource, ref, patch, options) =>
      kept(resource, client.patchStatusJson(resource, ref, patch, within(options)), options?.dryRun),
    patchStatusMerge: (resource, ref, patch, options) =>
      kept(resource, client.patchStatusMerge(resource, ref, patch, within(options)), options?.dryRun),
    patchSpecMerge: (resource, ref, patch, options) =>
      kept(resource, client.patchSpecMerge(resource, ref, patch, within(options)), options?.dryRun),
    patchJson: (resource, ref, patch, options) =>
      kept(resource, client.patchJson(resource, ref, patch, within(options)), options?.dryRun),
    apply: (resource, manifest, options) =>
      kept(resource, client.apply(resource, manifest, within(options)), options?.dryRun),
    async delete(resource, ref, options?: DeleteOptions) {
      await client.delete(resource, ref, within(options));
      if (options?.dryRun !== true) notes.deleted(resource, ref, options?.uid);
    },
  };
}
