import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {ConfigMaps, Events, ServiceAccounts} from '../../../src/kube/builtin.ts';
import {connectWith} from '../../../src/kube/connection.ts';
import {isApiError} from '../../../src/kube/errors.ts';
import {createRecorder} from '../../../src/kube/events.ts';
import {kubeResource} from '../../../src/kube/resource.ts';
import {SubjectAccessReviews, TokenReviews} from '../../../src/kube/reviews.ts';
import {keptLog} from '../../support/log.ts';
import {Widgets} from '../../support/widgets.ts';
import {type KubePlace, makePlace, openClient} from './place.ts';

let place: KubePlace;
let token: string;
beforeAll(async () => {
  place = await makePlace();
  const {namespace, client, cluster} = place;
  await client.create(ServiceAccounts, {metadata: {namespace, name: 'nobody'}});
  token = (await cluster.kubectl(['create', 'token', 'nobody', '-n', namespace, '--audience=carrel-mcp'])).trim();
});
afterAll(() => place.remove());

const ref = (name: string) => ({namespace: place.namespace, name});
const kindOf = async (call: Promise<unknown>) => {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return isApiError(error) ? error.kind : String(error);
  }
};
const make = (name: string) => place.client.create(Widgets, {metadata: ref(name), spec: {size: 1}});

describe('kinds of refusals, from the real server', () => {
  test('names: missing, taken, taken by a dying object', async () => {
    const {client, cluster, namespace} = place;
    expect(await kindOf(client.get(Widgets, ref('none')))).toBe('NotFound');
    expect(
      await kindOf(client.create(Widgets, {metadata: {namespace: 'no-such-namespace', name: 'x'}, spec: {}})),
    ).toBe('NamespaceNotFound');
    expect(await kindOf(client.get(kubeResource({...Widgets, plural: 'gadgets'}), ref('x')))).toBe('NotServed');
    await make('taken');
    expect(await kindOf(make('taken'))).toBe('AlreadyExists');
    await cluster.kubectl([
      'patch',
      'widget',
      'taken',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":["kube.test/hold"]}}',
    ]);
    const {metadata} = await client.get(Widgets, ref('taken'));
    await client.delete(Widgets, ref('taken'), {uid: metadata.uid});
    expect(await kindOf(make('taken'))).toBe('Terminating');
    await client.patchJson(Widgets, ref('taken'), {
      uid: metadata.uid,
      ops: [{op: 'remove', path: '/metadata/finalizers'}],
    });
    expect(await client.find(Widgets, ref('taken'))).toBeUndefined();
  });

  test('conditional writes: stale version, failed test, wrong uid', async () => {
    const {client} = place;
    const widget = await make('conditional');
    const {uid, resourceVersion} = widget.metadata;
    const first = {uid, tests: {'/status': null}, ops: [{op: 'add', path: '/status', value: {phase: 'Idle'}}]} as const;
    expect((await client.patchStatusJson(Widgets, ref('conditional'), first)).status?.phase).toBe('Idle');
    expect(await kindOf(client.patchStatusJson(Widgets, ref('conditional'), first))).toBe('TestFailed');
    expect(await kindOf(client.patchStatusJson(Widgets, ref('conditional'), {...first, uid: 'other', tests: {}}))).toBe(
      'TestFailed',
    );
    expect(
      await kindOf(client.patchStatusMerge(Widgets, ref('conditional'), {resourceVersion, status: {phase: 'x'}})),
    ).toBe('Conflict');
    expect(await kindOf(client.patchSpecMerge(Widgets, ref('conditional'), {uid: 'other', spec: {size: 2}}))).toBe(
      'Invalid',
    );
    expect(await kindOf(client.delete(Widgets, ref('conditional'), {uid: 'other'}))).toBe('Conflict');
  });

  test('a test of a text with <, > and & holds, as the API server writes them', async () => {
    const {client} = place;
    const {uid} = (await make('angled')).metadata;
    const phase = 'at <anonymous> & "co" \u2028 é\n';
    const first = {uid, ops: [{op: 'add', path: '/status', value: {phase}}]} as const;
    await client.patchStatusJson(Widgets, ref('angled'), first);
    const next = {uid, tests: {'/status': {phase}}, ops: [{op: 'replace', path: '/status/phase', value: 'x'}]} as const;
    expect((await client.patchStatusJson(Widgets, ref('angled'), next)).status?.phase).toBe('x');
  });

  test('shapes: schema, unknown fields strict and not', async () => {
    const warnings: string[] = [];
    const client = openClient(place.connection, {onWarning: (warning) => warnings.push(warning)});
    expect(await kindOf(client.create(Widgets, {metadata: ref('big'), spec: {size: 1_000_001}}))).toBe('Invalid');
    const bogus = {size: 1, bogus: true};
    expect(await kindOf(client.create(Widgets, {metadata: ref('bogus'), spec: bogus}, {strict: true}))).toBe('Invalid');
    expect(await kindOf(client.create(Widgets, {metadata: ref('bogus'), spec: bogus}, {dryRun: true}))).toBe('ok');
    expect(warnings.join()).toContain('unknown field');
    expect(await client.find(Widgets, ref('bogus'))).toBeUndefined();
  });

  test('rights, quota, and a namespace that goes away', async () => {
    const {client, cluster, namespace, connection} = place;
    const {ca} = connection.credentials();
    const plain = (await cluster.kubectl(['create', 'token', 'nobody', '-n', namespace])).trim();
    const nobody = openClient(connectWith(connection.server, {ca, token: plain}));
    expect(await kindOf(nobody.get(Widgets, ref('x')))).toBe('Forbidden');
    const stranger = openClient(connectWith(connection.server, {ca, token}));
    expect(await kindOf(stranger.get(Widgets, ref('x')))).toBe('Unauthorized');
    await cluster.kubectl(['create', 'quota', 'none', '-n', namespace, '--hard=count/configmaps=0']);
    const config = (at: string) => client.create(ConfigMaps, {metadata: {namespace: at, name: 'c'}});
    await expect.poll(() => kindOf(config(namespace)), {timeout: 20_000}).toBe('QuotaExceeded');

    const dying = `${namespace}-dying`;
    await cluster.kubectl(['create', 'namespace', dying]);
    const held = await client.create(ConfigMaps, {
      metadata: {namespace: dying, name: 'held', finalizers: ['kube.test/hold']},
    });
    await cluster.kubectl(['delete', 'namespace', dying, '--wait=false']);
    await expect.poll(() => kindOf(config(dying)), {timeout: 20_000}).toBe('NamespaceTerminating');
    const ops = [{op: 'remove', path: '/metadata/finalizers'}] as const;
    await client.patchJson(ConfigMaps, {namespace: dying, name: 'held'}, {uid: held.metadata.uid, ops});
  });

  test('a policy refuses, with either status', async () => {
    const {client, cluster, namespace} = place;
    const policy = (name: string, reason: string) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: {name},
      spec: {
        matchConstraints: {
          resourceRules: [
            {apiGroups: ['kube.test'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets']},
          ],
        },
        matchConditions: [{name: 'mine', expression: `object.metadata.name == '${name}'`}],
        validations: [{expression: 'false', message: 'not today', reason}],
      },
    });
    const binding = (name: string) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: {name},
      spec: {policyName: name, validationActions: ['Deny']},
    });
    for (const reason of ['Forbidden', 'Invalid']) {
      const name = `${namespace}-${reason.toLowerCase()}`;
      await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(policy(name, reason)));
      await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(binding(name)));
      const attempt = () => kindOf(client.create(Widgets, {metadata: ref(name), spec: {}}, {dryRun: true}));
      await expect.poll(attempt, {timeout: 20_000}).toBe('PolicyDenied');
      await cluster.kubectl(['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', name]);
    }
  });
});

describe('other writes', () => {
  test('server-side apply makes and mends an object under our field manager, and meets other managers', async () => {
    const {client, cluster, namespace} = place;
    const manifest = {metadata: ref('applied'), spec: {size: 1, owner: 'ann'}};
    const made = await client.apply(Widgets, manifest);
    expect((await client.apply(Widgets, manifest)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    await cluster.kubectl([
      'patch',
      'widget',
      'applied',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"spec":{"size":9}}',
      '--field-manager=other',
    ]);
    expect(await kindOf(client.apply(Widgets, manifest))).toBe('Conflict');
    expect((await client.apply(Widgets, manifest, {force: true})).spec.size).toBe(1);
  });

  test('an event and its repeats are one event with a count', async () => {
    const {client} = place;
    const widget = await make('noted');
    const event = {regarding: widget, type: 'Normal', reason: 'Tested', action: 'Test', note: 'seen'} as const;
    for (let n = 0; n < 2; n++) {
      const recorder = createRecorder({client, controller: 'kube.test/widget', instance: 'test', log: keptLog()});
      recorder.record(event);
      await recorder.flush({timeoutMs: 20_000});
    }
    const {items} = await client.list(Events, {namespace: place.namespace});
    expect(items.filter((e) => e.reason === 'Tested').map((e) => [e.note, e.series?.count])).toEqual([['seen', 2]]);
  });

  test('a token is reviewed for one audience, and a right for one user', async () => {
    const {client, namespace} = place;
    const good = await client.review(TokenReviews, {token, audiences: ['carrel-mcp']});
    expect(good).toMatchObject({
      authenticated: true,
      username: `system:serviceaccount:${namespace}:nobody`,
      audiences: ['carrel-mcp'],
    });
    const wrong = await client.review(TokenReviews, {token, audiences: ['carrel-runner']});
    expect(wrong).toMatchObject({authenticated: false, audiences: []});
    const question = {
      user: good.username,
      groups: good.groups,
      resourceAttributes: {namespace, verb: 'get', group: 'kube.test', resource: 'widgets'},
    };
    expect((await client.review(SubjectAccessReviews, question)).allowed).toBe(false);
    expect((await client.review(SubjectAccessReviews, {...question, groups: ['system:masters']})).allowed).toBe(true);
  });
});
