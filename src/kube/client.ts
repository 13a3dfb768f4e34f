import type {KubeObject, Manifest, ObjectRef} from '../api/kube-object.ts';
import {type Call, type Caller, type CallerParts, createCaller} from './caller.ts';
import {systemClock} from './clock.ts';
import {encodeJson} from './encode.ts';
import {ApiError, isApiError} from './errors.ts';
import {collectionPath, objectPath, type Query, refKey, requireNamespace, selectionQuery, withQuery} from './path.ts';
import type {CallOptions, Client, JsonPatch, Listed, Selection, WriteOptions} from './ports.ts';
import {apiVersionOf, type Resource, resourceName} from './resource.ts';
import {asObject, items, member, text} from './typed.ts';

/** What a client is made of. */
export interface ClientParts extends Omit<CallerParts, 'clock'> {
  readonly clock?: CallerParts['clock'];
  /** Named after the process; the API server records it beside every field written. */
  readonly fieldManager: string;
  /** Asked before a write is sent, each time anew: false refuses it as `NotLeader`. For leader-elected processes. */
  readonly mayWrite?: () => boolean;
}

const PAGE = 500;
const CONTENT = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Connect a Client to one API server. */
export function createClient(parts: ClientParts): Client {
  const call = createCaller({...parts, clock: parts.clock ?? systemClock});
  const reads = readsOf(call);
  const send = writerOf(parts, call);
  const patch = <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, change: PatchCall): Promise<T> => {
    const path = objectPath(resource, ref, change.subresource);
    const label = change.subresource === undefined ? refKey(ref) : `${refKey(ref)} ${change.subresource}`;
    return send(resource, label, {...change, method: 'PATCH', path}).then((body) => expectObject(resource, body));
  };
  return {
    ...reads,
    async create(resource, manifest, options) {
      const path = collectionPath(resource, requireNamespace(resource, manifest.metadata));
      const body = withHead(resource, manifest);
      const call = {method: 'POST', path, body, options, repeatable: false} as const;
      return expectObject(resource, await send(resource, refKey(manifest.metadata), call));
    },
    async delete(resource, ref, options = {}) {
      const {uid, resourceVersion, propagationPolicy, gracePeriodSeconds, ...write} = options;
      const preconditions = uid === undefined && resourceVersion === undefined ? undefined : {uid, resourceVersion};
      const body = {apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy, gracePeriodSeconds};
      const path = objectPath(resource, ref);
      await send(resource, refKey(ref), {
        method: 'DELETE',
        path,
        body,
        options: write,
        repeatable: true,
        goneIsDone: true,
      });
    },
    patchStatusJson: (resource, ref, change, options) =>
      patch(resource, ref, {...jsonPatch(change), options, subresource: 'status'}),
    patchStatusMerge: (resource, ref, {resourceVersion, status}, options) =>
      patch(resource, ref, {...mergePatch({metadata: {resourceVersion}, status}), options, subresource: 'status'}),
    patchSpecMerge: (resource, ref, {uid, resourceVersion, spec}, options) =>
      patch(resource, ref, {...mergePatch({metadata: {uid, resourceVersion}, spec}), options}),
    patchJson: (resource, ref, change, options) => patch(resource, ref, {...jsonPatch(change), options}),
    apply: (resource, manifest, {force, ...options} = {}) =>
      patch(resource, manifest.metadata, {
        body: withHead(resource, manifest),
        contentType: CONTENT.apply,
        query: {force},
        options,
        repeatable: true,
      }),
    async review(kind, spec, options) {
      const resource = {...kind, namespaced: false};
      const body = JSON.stringify({apiVersion: apiVersionOf(resource), kind: kind.kind, spec});
      const name = `POST ${resourceName(resource)}`;
      const path = collectionPath(resource);
      const reply = await call({name, resource: kind.plural, method: 'POST', path, body, repeatable: true}, options);
      return kind.parse(member(reply, 'status'));
    },
  };
}

interface PatchCall {
  readonly body: unknown;
  readonly contentType: string;
  readonly repeatable: boolean;
  readonly query?: Query;
  readonly options?: WriteOptions | undefined;
  readonly subresource?: 'status';
}

interface WriteCall extends Pick<Call, 'method' | 'path' | 'repeatable' | 'goneIsDone' | 'contentType'> {
  readonly body: unknown;
  readonly query?: Query;
  readonly options?: WriteOptions | undefined;
}

function jsonPatch({uid, tests, ops}: JsonPatch): PatchCall {
  const checks = Object.entries({'/metadata/uid': uid, ...tests}).map(([path, value]) => ({op: 'test', path, value}));
  // Appending is the one operation that differs when done twice, unless a test notices the first time.
  const appends = ops.some((op) => op.op === 'add' && op.path.endsWith('/-'));
  const repeatable = !appends || (tests !== undefined && Object.keys(tests).length > 0);
  return {body: [...checks, ...ops], contentType: CONTENT.json, repeatable};
}

function mergePatch(body: object): PatchCall {
  return {body, contentType: CONTENT.merge, repeatable: true};
}

function writerOf(parts: ClientParts, call: Caller) {
  return async (resource: Resource<KubeObject>, label: string, write: WriteCall): Promise<unknown> => {
    const {options = {}, body, query, path, ...rest} = write;
    const name = `${write.method} ${resourceName(resource)} ${label}`;
    const fieldManager = write.method === 'DELETE' ? undefined : parts.fieldManager;
    const fieldValidation = write.method !== 'DELETE' && options.strict === true ? 'Strict' : undefined;
    const dryRun = options.dryRun === true ? 'All' : undefined;
    return call(
      {
        ...rest,
        name,
        resource: resourceName(resource),
        mayBeSent: parts.mayWrite,
        path: withQuery(path, {...query, fieldManager, fieldValidation, dryRun}),
        body: encodeJson(body),
      },
      options,
    );
  };
}

function readsOf(call: Caller): Pick<Client, 'get' | 'find' | 'list'> {
  const get = async <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T> =>
    expectObject(resource, await call(readCall(resource, objectPath(resource, ref), refKey(ref)), options));
  return {
    get,
    async find(resource, ref, options) {
      try {
        return await get(resource, ref, options);
      } catch (error) {
        if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return undefined;
        throw error;
      }
    },
    list: (resource, selection = {}, options = {}) => listPages(call, resource, {selection, options}),
  };
}

/** List in pages; a page token that expired means starting over, never its inconsistent continuation. */
export async function listPages<T extends KubeObject>(
  call: Caller,
  resource: Resource<T>,
  {selection, options}: {selection: Selection; options: CallOptions},
): Promise<Listed<T>> {
  for (let round = 1; ; round++) {
    try {
      return await listOnce(call, resource, {selection, options});
    } catch (error) {
      if (round >= 3 || !isApiError(error, 'Expired')) throw error;
    }
  }
}

async function listOnce<T extends KubeObject>(
  call: Caller,
  resource: Resource<T>,
  {selection, options}: {selection: Selection; options: CallOptions},
): Promise<Listed<T>> {
  const path = collectionPath(resource, selection.namespace);
  const found: T[] = [];
  for (let next = ''; ; ) {
    const query = {...selectionQuery(selection), limit: PAGE, continue: next || undefined};
    const page = await call(readCall(resource, withQuery(path, query), selection.namespace ?? ''), options);
    for (const item of items(page, 'items')) found.push(expectObject(resource, item));
    const metadata = member(page, 'metadata');
    next = text(metadata, 'continue');
    if (next === '') return {items: found, resourceVersion: text(metadata, 'resourceVersion')};
  }
}

function readCall(resource: Resource<KubeObject>, path: string, label: string): Call {
  const name = resourceName(resource);
  return {name: `GET ${name} ${label}`.trim(), resource: name, method: 'GET', path, repeatable: true};
}

function withHead<T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>): object {
  return {apiVersion: apiVersionOf(resource), kind: resource.kind, ...manifest};
}

function expectObject<T extends KubeObject>(resource: Resource<T>, json: unknown): T {
  const object = asObject(resource, json);
  if (object !== undefined) return object;
  throw new ApiError({
    kind: 'Other',
    status: 200,
    reason: '',
    message: `the reply is no ${resource.kind}`,
    causes: [],
    request: resourceName(resource),
  });
}
