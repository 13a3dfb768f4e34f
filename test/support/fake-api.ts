// A small API server in this process, for unit tests of clients, caches and controllers: versions, lists in pages, watches with
// bookmarks and initial events, patches, preconditions, finalizers. No schemas, no admission: those are tested against a real one.
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {isJson, type Json} from '../../src/api/json.ts';
import type {KubeObject, ObjectRef} from '../../src/api/kube-object.ts';
import {type Connection, connectWith} from '../../src/kube/connection.ts';
import {type Resource, resourceName} from '../../src/kube/resource.ts';
import {asObject, member, text} from '../../src/kube/typed.ts';
import {parseTarget, type Target} from './fake-target.ts';
import {bookmarkAt, createWorld, line, matches, status, type Watcher, type World} from './fake-world.ts';
import {applyJsonPatch, mergeJson} from './json-patch.ts';

/** What happens to a request instead of, or after, its normal course. */
export type Fault =
  /** Answer this and do nothing. */
  | {readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string>}
  /** Break the connection before anything is done. */
  | 'reset'
  /** Never answer. */
  | 'hang'
  /** Do it, then break the connection. */
  | 'lose';

/** One request as it came in. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A running fake. */
export interface FakeApi {
  readonly connection: Connection;
  readonly requests: SeenRequest[];
  /** Decide about each request, at once or later; undefined = serve it. */
  fault: (request: SeenRequest) => Fault | undefined | Promise<Fault | undefined>;
  /** Answer `sendInitialEvents` like a server that does not know it. */
  noWatchList: boolean;
  /** Open WatchLists and send what there is, but never say that it was all, like a server that is slow. */
  endlessWatchList: boolean;
  pageSize: number;
  /** Create or replace behind everybody's back; returns the stored object. */
  put<T extends KubeObject>(
    resource: Resource<T>,
    object: Omit<T, 'apiVersion' | 'kind' | 'metadata'> & {metadata: object},
  ): T;
  drop(resource: Resource<KubeObject>, ref: ObjectRef): void;
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>): T[];
  /** Open watches. */
  watching(): number;
  bookmark(): void;
  /** Keep changes from the watches, as a server that lags, until `release`. */
  hold(): void;
  release(): void;
  /** End all watches: cleanly, by breaking the connection, with 410 in the stream, or in the middle of a line. */
  endWatches(how: 'clean' | 'break' | 'expire' | 'truncate'): void;
  /** Raise the version without any change, as other objects would. */
  skip(versions: number): void;
  /** Versions up to now are no longer served to watches. */
  compact(): void;
  close(): Promise<void>;
}

/** Start a fake API server on a free port. */
export async function startFakeApi(): Promise<FakeApi> {
  const world = createWorld();
  const server = createServer((request, response) => {
    void serve(world, api, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error('fake api failed'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connection = connectWith(new URL(`http://127.0.0.1:${port}`), {token: 'test-token'});
  const api: FakeApi = {
    connection,
    requests: [],
    fault: () => undefined,
    noWatchList: false,
    endlessWatchList: false,
    pageSize: 500,
    put(resource, object) {
      const ref = member(object, 'metadata');
      const key = `${resourceName(resource)}|${text(ref, 'namespace')}/${text(ref, 'name')}`;
      const old = world.objects.get(key);
      const stored = world.store(
        key,
        {...object, metadata: {...member(old?.json, 'metadata'), ...ref}},
        resourceName(resource),
      );
      return expectTyped(resource, stored);
    },
    drop: (resource, ref) => world.remove(`${resourceName(resource)}|${ref.namespace ?? ''}/${ref.name}`),
    get: (resource, ref) =>
      asObject(resource, world.objects.get(`${resourceName(resource)}|${ref.namespace ?? ''}/${ref.name}`)?.json),
    list: (resource) => world.all(resourceName(resource)).map((json) => expectTyped(resource, json)),
    watching: () => world.watchers.size,
    bookmark: () => world.bookmark(),
    hold: () => world.hold(),
    release: () => world.release(),
    endWatches: (how) => world.endWatches(how),
    skip(versions) {
      world.version += versions;
    },
    compact() {
      world.oldest = world.version;
    },
    async close() {
      connection.close();
      world.endWatches('break');
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}

async function serve(world: World, api: FakeApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fake');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const {method = 'GET', headers} = request;
  const seen: SeenRequest = {method, path: url.pathname, query: url.searchParams, headers, body};
  api.requests.push(seen);
  const fault = await api.fault(seen);
  if (fault === 'reset') return void request.socket.destroy();
  if (fault === 'hang') return;
  if (typeof fault === 'object')
    return reply(response, fault.status, fault.body ?? status(fault.status, '', 'injected'), fault.headers);
  const target = parseTarget(url.pathname);
  if (target === undefined) return void response.writeHead(404).end('404 page not found\n');
  if (method === 'GET' && target.name === undefined && url.searchParams.get('watch') === 'true') {
    return watchCollection(world, api, {seen, target, response});
  }
  const [code, answer] = act(world, api, target, seen);
  if (fault === 'lose') return void request.socket.destroy();
  reply(response, code, answer);
}

function act(world: World, api: FakeApi, target: Target, seen: SeenRequest): [number, unknown] {
  if (target.name === undefined)
    return seen.method === 'POST' ? create(world, target, seen) : list(world, api, target, seen);
  const key = `${target.collection}|${target.namespace ?? ''}/${target.name}`;
  const old = world.objects.get(key)?.json;
  const apply = String(seen.headers['content-type'] ?? '').startsWith('application/apply-patch');
  if (old === undefined && !apply)
    return [404, status(404, 'NotFound', `${target.collection} "${target.name}" not found`, {kind: target.collection})];
  if (seen.method === 'GET') return [200, old];
  if (seen.method === 'DELETE') return remove(world, key, old ?? {}, parseBody(seen));
  return patch(world, {target, seen, key, old});
}

function create(world: World, target: Target, seen: SeenRequest): [number, unknown] {
  const body = parseBody(seen);
  if (
    target.collection.endsWith('reviews.authentication.k8s.io') ||
    target.collection.endsWith('reviews.authorization.k8s.io')
  ) {
    return [201, {...body, metadata: {}, status: {}}];
  }
  const name = text(member(body, 'metadata'), 'name');
  const key = `${target.collection}|${target.namespace ?? ''}/${name}`;
  const old = world.objects.get(key);
  if (old !== undefined) {
    const dying = text(member(old.json, 'metadata'), 'deletionTimestamp') !== '';
    const message = `${dying ? 'object is being deleted: ' : ''}${target.collection} "${name}" already exists`;
    return [409, status(409, 'AlreadyExists', message)];
  }
  if (seen.query.get('dryRun') === 'All') return [201, {...body, metadata: {...member(body, 'metadata'), uid: 'dry'}}];
  const {status: _, ...kept} = body;
  const metadata = {...member(body, 'metadata'), namespace: target.namespace};
  return [201, world.store(key, {...kept, metadata}, target.collection)];
}

function list(world: World, api: FakeApi, target: Target, seen: SeenRequest): [number, unknown] {
  const all = world
    .all(target.collection)
    .filter(
      (json) => target.namespace === undefined || text(member(json, 'metadata'), 'namespace') === target.namespace,
    );
  const from = Number(seen.query.get('continue') ?? 0);
  const page = all.slice(from, from + api.pageSize);
  const next = from + api.pageSize < all.length ? String(from + api.pageSize) : '';
  const metadata = {resourceVersion: String(world.version), continue: next};
  // Items of a list carry neither apiVersion nor kind, as with built-in kinds.
  return [200, {kind: 'List', metadata, items: page.map(({apiVersion: _, kind: __, ...item}) => item)}];
}

function remove(world: World, key: string, old: Json, options: Json): [number, unknown] {
  const metadata = member(old, 'metadata');
  const wanted = member(options, 'preconditions');
  for (const field of ['uid', 'resourceVersion']) {
    if (text(wanted, field) !== '' && text(wanted, field) !== text(metadata, field)) {
      return [409, status(409, 'Conflict', `the ${field} in the precondition does not match the one in record`)];
    }
  }
  const finalizers = metadata['finalizers'];
  if (Array.isArray(finalizers) && finalizers.length > 0) {
    const dying = {...metadata, deletionTimestamp: text(metadata, 'deletionTimestamp') || '2026-01-01T00:00:01Z'};
    return [200, world.store(key, {...old, metadata: dying}, key.slice(0, key.indexOf('|')))];
  }
  return [200, world.remove(key)];
}

function patch(
  world: World,
  {target, seen, key, old}: {target: Target; seen: SeenRequest; key: string; old: Json | undefined},
): [number, unknown] {
  const type = String(seen.headers['content-type'] ?? '');
  const before = old ?? {};
  const metadata = member(before, 'metadata');
  const change: unknown = JSON.parse(seen.body);
  const changed = type === 'application/json-patch+json' ? applyJsonPatch(before, change) : mergeJson(before, change);
  if (!isJson(changed))
    return [422, status(422, 'Invalid', 'the server rejected our request due to an error in our request')];
  const asked = type === 'application/merge-patch+json' ? text(member(change, 'metadata'), 'resourceVersion') : '';
  if (asked !== '' && asked !== text(metadata, 'resourceVersion')) {
    return [
      409,
      status(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version'),
    ];
  }
  const uid = text(member(change, 'metadata'), 'uid');
  if (target.subresource === undefined && uid !== '' && uid !== text(metadata, 'uid')) {
    const causes = [{reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid'}];
    return [422, status(422, 'Invalid', 'metadata.uid: field is immutable', {causes})];
  }
  const next = separate(before, changed, target);
  if (JSON.stringify(next) === JSON.stringify(before)) return [200, before];
  if (seen.query.get('dryRun') === 'All') return [200, next];
  const finalizers = member(next, 'metadata')['finalizers'];
  const gone = text(metadata, 'deletionTimestamp') !== '' && !(Array.isArray(finalizers) && finalizers.length > 0);
  const stored = world.store(key, next, target.collection);
  if (gone) world.remove(key);
  return [200, stored];
}

// The status subresource changes status only; the main resource everything else. Versions and identity are the server's.
function separate(before: Json, changed: Json, target: Target): Json {
  const metadata = member(before, 'metadata');
  if (target.subresource === 'status') return {...before, status: changed['status']};
  const specChanged = JSON.stringify(before['spec']) !== JSON.stringify(changed['spec']);
  const generation = metadata['generation'];
  const kept = {
    ...member(changed, 'metadata'),
    ...(metadata['uid'] === undefined ? {namespace: target.namespace} : {uid: metadata['uid']}),
    ...(metadata['resourceVersion'] === undefined ? {} : {resourceVersion: metadata['resourceVersion']}),
    ...(typeof generation === 'number' ? {generation: generation + (specChanged ? 1 : 0)} : {}),
  };
  return {...changed, metadata: kept, ...(before['status'] === undefined ? {} : {status: before['status']})};
}

function watchCollection(
  world: World,
  api: FakeApi,
  {seen, target, response}: {seen: SeenRequest; target: Target; response: ServerResponse},
): void {
  const initial = seen.query.get('sendInitialEvents') === 'true';
  if (initial && api.noWatchList) {
    const causes = [
      {reason: 'FieldValueForbidden', message: 'sendInitialEvents is forbidden', field: 'sendInitialEvents'},
    ];
    reply(response, 422, status(422, 'Invalid', 'sendInitialEvents: Forbidden', {causes}));
    return;
  }
  response.writeHead(200, {'content-type': 'application/json'});
  response.flushHeaders();
  const watcher: Watcher = {collection: target.collection, namespace: target.namespace, response};
  const from = Number(seen.query.get('resourceVersion') ?? 0);
  if (initial) {
    for (const json of world.all(target.collection)) {
      if (matches(watcher, {collection: target.collection, json})) line(response, 'ADDED', json);
    }
    const bookmark = bookmarkAt(world.version);
    const end = {metadata: {...bookmark.metadata, annotations: {'k8s.io/initial-events-end': 'true'}}};
    if (!api.endlessWatchList) line(response, 'BOOKMARK', end);
  } else if (from < world.oldest) {
    line(response, 'ERROR', status(410, 'Expired', `too old resource version: ${from} (${world.oldest})`));
    return void response.end();
  } else {
    for (const entry of world.log)
      if (entry.version > from && matches(watcher, entry)) line(response, entry.type, entry.json);
  }
  world.watchers.add(watcher);
  response.on('close', () => world.watchers.delete(watcher));
}

function reply(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, {'content-type': 'application/json', ...headers}).end(JSON.stringify(body));
}

function parseBody(seen: SeenRequest): Json {
  const parsed: unknown = seen.body === '' ? {} : JSON.parse(seen.body);
  return isJson(parsed) ? parsed : {};
}

function expectTyped<T extends KubeObject>(resource: Resource<T>, json: unknown): T {
  const object = asObject(resource, json);
  if (object === undefined) throw new Error(`not a ${resource.kind}`);
  return object;
}
