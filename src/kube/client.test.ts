import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {impatientClock} from '../../test/support/fake-clock.ts';
import {kindOf} from '../../test/support/kube-error.ts';
import {keptLog} from '../../test/support/log.ts';
import {Widgets} from '../../test/support/widgets.ts';
import {Namespaces} from './builtin.ts';
import {createClient} from './client.ts';
import {connectWith} from './connection.ts';
import type {Client} from './ports.ts';
import {SubjectAccessReviews, TokenReviews} from './reviews.ts';

const ref = {namespace: 'a', name: 'x'};
let api: FakeApi;
let client: Client;
let log: ReturnType<typeof keptLog>;
let mayWrite = true;

beforeEach(async () => {
  api = await startFakeApi();
  log = keptLog();
  mayWrite = true;
  client = createClient({
    connection: api.connection,
    fieldManager: 'carrel-test',
    log,
    clock: impatientClock(),
    random: () => 0,
    mayWrite: () => mayWrite,
  });
});
afterEach(() => api.close());

const last = () => api.requests.at(-1);

describe('forms of writes', () => {
  test('a conditional status patch tests the uid and every given path', async () => {
    const widget = api.put(Widgets, {metadata: ref, spec: {}, status: {phase: 'Running'}});
    const ops = [{op: 'replace', path: '/status/phase', value: 'Completed'}] as const;
    const patch = {uid: widget.metadata.uid, tests: {'/status/phase': 'Running'}, ops};
    const done = await client.patchStatusJson(Widgets, ref, patch);
    expect(done.status?.phase).toBe('Completed');
    expect(last()?.path).toBe('/apis/kube.test/v1/namespaces/a/widgets/x/status');
    expect(await kindOf(client.patchStatusJson(Widgets, ref, patch))).toBe('TestFailed');
    const foreign = {...patch, uid: 'another', tests: {}};
    expect(await kindOf(client.patchStatusJson(Widgets, ref, foreign))).toBe('TestFailed');
  });

  test('a status merge patch is refused when the object has changed since', async () => {
    const widget = api.put(Widgets, {metadata: ref, spec: {}});
    const patch = {resourceVersion: widget.metadata.resourceVersion, status: {phase: 'Idle'}};
    expect((await client.patchStatusMerge(Widgets, ref, patch)).status?.phase).toBe('Idle');
    expect(await kindOf(client.patchStatusMerge(Widgets, ref, {...patch, status: {count: 1}}))).toBe('Conflict');
  });

  test('a spec merge patch changes single fields and names its manager; a wrong uid is refused', async () => {
    api.put(Widgets, {metadata: ref, spec: {size: 1, owner: 'ann'}});
    const widget = await client.patchSpecMerge(Widgets, ref, {spec: {size: 2}}, {strict: true, dryRun: false});
    expect(widget.spec).toEqual({size: 2, owner: 'ann'});
    expect(last()?.query.toString()).toBe('fieldManager=carrel-test&fieldValidation=Strict');
    expect(await kindOf(client.patchSpecMerge(Widgets, ref, {uid: 'other', spec: {size: 3}}))).toBe('Invalid');
  });

  test('create, apply and delete send what they say', async () => {
    const created = await client.create(Widgets, {metadata: ref, spec: {size: 1}});
    expect([created.kind, created.apiVersion, created.metadata.namespace]).toEqual(['Widget', 'kube.test/v1', 'a']);
    expect('managedFields' in created.metadata).toBe(false);
    await client.apply(Widgets, {metadata: ref, spec: {size: 4}}, {force: true});
    expect(last()?.query.toString()).toBe('force=true&fieldManager=carrel-test');
    expect(last()?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(await kindOf(client.delete(Widgets, ref, {uid: 'other'}))).toBe('Conflict');
    await client.delete(Widgets, ref, {uid: created.metadata.uid, propagationPolicy: 'Background'});
    expect(await kindOf(client.delete(Widgets, ref))).toBe('NotFound');
    expect(await client.find(Widgets, ref)).toBeUndefined();
  });

  test('a dry run stores nothing', async () => {
    await client.create(Widgets, {metadata: ref, spec: {}}, {dryRun: true});
    expect(api.list(Widgets)).toEqual([]);
  });

  test('a namespaced kind without a namespace is refused before anything is sent', async () => {
    await expect(client.get(Widgets, {name: 'x'})).rejects.toThrow('widgets.kube.test x: a namespace is required');
    await expect(client.get(Namespaces, {name: ''})).rejects.toThrow('namespaces: a name is required');
    expect(api.requests).toEqual([]);
  });

  test('no write leaves a process that does not hold the lease; reads do', async () => {
    mayWrite = false;
    expect(await kindOf(client.create(Widgets, {metadata: ref, spec: {}}))).toBe('NotLeader');
    expect(await client.find(Widgets, ref)).toBeUndefined();
    expect(api.requests.map((r) => r.method)).toEqual(['GET']);
  });

  test.each([
    ['429', 'Throttled', {status: 429, headers: {'retry-after': '1'}}],
    ['503', 'Unavailable', {status: 503}],
    ['a lost answer', 'Unavailable', 'lose'],
  ] as const)(
    'F20 a write is not sent again after %s when the lease was lost meanwhile',
    async (_name, kind, fault) => {
      const widget = api.put(Widgets, {metadata: ref, spec: {}, status: {phase: 'Idle'}});
      api.fault = () => {
        mayWrite = false;
        return fault;
      };
      const ops = [{op: 'replace', path: '/status/phase', value: 'Running'}] as const;
      expect(await kindOf(client.patchStatusJson(Widgets, ref, {uid: widget.metadata.uid, ops}))).toBe(kind);
      expect(api.requests).toHaveLength(1);
    },
  );

  test('F20 a write that never left is refused as NotLeader when the lease was lost meanwhile', async () => {
    const connection = connectWith(new URL('http://127.0.0.1:1'), {});
    const asked = [true, false];
    const parts = {connection, fieldManager: 'test', log, clock: impatientClock(), random: () => 0};
    const unheard = createClient({...parts, mayWrite: () => asked.shift() === true});
    expect(await kindOf(unheard.create(Widgets, {metadata: ref, spec: {}}))).toBe('NotLeader');
  });
});

describe('lists', () => {
  test('come in pages, with kind and version filled in', async () => {
    api.pageSize = 2;
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(Widgets, {metadata: {name, namespace: 'a'}, spec: {}});
    const {items} = await client.list(Widgets, {namespace: 'a', labelSelector: 'x=y'});
    expect(items.map((w) => `${w.kind} ${w.metadata.name}`)).toEqual([
      'Widget a',
      'Widget b',
      'Widget c',
      'Widget d',
      'Widget e',
    ]);
    expect(api.requests.map((r) => r.query.get('continue'))).toEqual([null, '2', '4']);
    expect(last()?.query.get('limit')).toBe('500');
    expect(last()?.query.get('labelSelector')).toBe('x=y');
  });

  test('F7 an expired page token starts over, and no half list is returned', async () => {
    api.pageSize = 1;
    for (const name of ['a', 'b', 'c']) api.put(Widgets, {metadata: {name, namespace: 'a'}, spec: {}});
    let once = true;
    api.fault = (r) => {
      if (r.query.get('continue') !== '2' || !once) return undefined;
      once = false;
      return {
        status: 410,
        body: {kind: 'Status', reason: 'Expired', message: 'too old', metadata: {continue: 'inconsistent'}},
      };
    };
    const {items} = await client.list(Widgets);
    expect(items).toHaveLength(3);
    expect(api.requests.map((r) => r.query.get('continue'))).toEqual([null, '1', '2', null, '1', '2']);
  });
});

describe('reviews', () => {
  test('a token is judged by the status, never by the HTTP code', async () => {
    const status = {
      user: {username: 'system:serviceaccount:a:b', groups: ['g'], extra: {pod: ['p']}},
      authenticated: true,
      audiences: ['carrel-mcp'],
    };
    api.fault = () => ({status: 201, body: {status}});
    const verdict = await client.review(TokenReviews, {token: 't', audiences: ['carrel-mcp']});
    expect(verdict).toEqual({
      authenticated: true,
      username: 'system:serviceaccount:a:b',
      uid: '',
      groups: ['g'],
      extra: {pod: ['p']},
      audiences: ['carrel-mcp'],
      error: '',
    });
    api.fault = () => ({status: 201, body: {status: {error: 'no'}}});
    expect((await client.review(TokenReviews, {token: 't'})).authenticated).toBe(false);
  });

  test('access is denied unless it is plainly allowed', async () => {
    const question = {user: 'u', groups: [], resourceAttributes: {verb: 'get', group: '', resource: 'pods'}};
    for (const [status, allowed] of [
      [{allowed: true}, true],
      [{}, false],
      [{allowed: true, denied: true}, false],
    ] as const) {
      api.fault = () => ({status: 201, body: {status}});
      expect((await client.review(SubjectAccessReviews, question)).allowed).toBe(allowed);
    }
  });
});
