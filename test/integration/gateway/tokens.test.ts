import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {SessionObject} from '../../../src/api/v1alpha1/index.ts';
import {Pods} from '../../../src/kube/builtin.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {Client, type Door, openDoors, tokenOf} from './door.ts';

/** Pods outside Carrel that a token may be bound to. */
const BARE = {restartPolicy: 'Never', terminationGracePeriodSeconds: 0, automountServiceAccountToken: false};

let place: Place;
let door: Door;
let session: SessionObject;
let account: string;

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'tokens');
  [door] = await openDoors(place.release);
  await place.agent('scribe', {workspace: {size: '64Mi'}});
  await place.session('me', {agent: 'scribe', prompt: 'say ready'});
  await place.session('other', {agent: 'scribe', prompt: 'say ready'});
  await place.untilTurn('me', 1);
  await place.untilTurn('other', 1);
  session = await place.get('me');
  const ref = {namespace: place.namespace, name: session.status?.pod?.name ?? ''};
  account = (await place.release.client.get(Pods, ref)).spec.serviceAccountName ?? '';
});
afterAll(() => place?.remove());

/** A token of the session's account, bound to this pod, as the kubelet would get it for the runner. */
async function boundTo(pod: {name: string; uid: string}, audience = 'carrel-mcp', of = account): Promise<Client> {
  const bound = ['--bound-object-kind', 'Pod', '--bound-object-name', pod.name, '--bound-object-uid', pod.uid];
  const token = await place.kubectl(['create', 'token', of, '--audience', audience, '--duration', '1h', ...bound]);
  return new Client({authorization: `Bearer ${token.trim()}`});
}

const podOf = (s: SessionObject) => ({name: s.status?.pod?.name ?? '', uid: s.status?.pod?.uid ?? ''});

describe('the token of a session', () => {
  it('gives the session its own tools; the URL narrows and never widens', async () => {
    const token = await boundTo(podOf(session));
    const narrowed = (groups: string) => new Client(token.headers, `/mcp?tool_groups=${groups}`).tools(door);
    expect(await token.tools(door)).toEqual(['action_session', 'ask_user', 'get_session']);
    expect(await narrowed('ask')).toEqual(['ask_user']);
    expect(await narrowed('sessions')).toEqual(['action_session', 'get_session']);
    expect(await narrowed('sessions_readonly')).toEqual(['get_session']);
    expect(await narrowed('triggers')).toEqual([]);
    expect(await narrowed('no_such_group')).toEqual([]);
    expect(await token.call(door, 'get_session')).toContain('- ID: me');
  });

  it('names the session: no path, query or argument makes it another one', async () => {
    const token = await boundTo(podOf(session));
    const elsewhere = new Client(token.headers, '/mcp/default');
    expect(await elsewhere.rpc(door, 'tools/list')).toMatchObject({
      status: 403,
      json: {error: {data: {code: 'namespace_forbidden'}}},
    });
    expect(await token.call(door, 'get_session', {session_id: 'other'})).toContain('error: session_not_found');
    expect(await token.rest(door, 'GET', '/sessions/other')).toMatchObject({status: 404});
    expect(await token.rest(door, 'GET', '/sessions')).toMatchObject({status: 403});
  });

  it('a session without a running turn has nobody to ask for', async () => {
    const token = await boundTo(podOf(session));
    expect(await token.call(door, 'ask_user', {question: 'who?'})).toContain('error: no_active_turn');
  });
});

describe('tokens that are stolen or made', () => {
  const refused = {status: 401, json: {error: {data: {code: 'unauthorized'}}}};

  it('one for another audience opens nothing', async () => {
    for (const audience of ['carrel-runner', 'carrel-egress', 'carrel-archive']) {
      const token = await boundTo(podOf(session), audience);
      expect(await token.rpc(door, 'tools/list')).toMatchObject(refused);
    }
  });

  it('one of the session account that is bound to no pod opens nothing', async () => {
    const free = new Client({authorization: `Bearer ${await tokenOf(place, account, 'carrel-mcp')}`});
    expect(await free.rpc(door, 'tools/list')).toMatchObject(refused);
  });

  it('one of a pod that is no session opens nothing, whatever its account', async () => {
    const containers = [
      {
        name: 'thief',
        image: place.release.images.scriptedAgent,
        command: ['/usr/local/bin/node', '-e', 'setTimeout(() => {}, 3600_000)'],
      },
    ];
    const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'thief'}, spec: {...BARE, containers}};
    await place.kubectl(['create', '-f', '-'], JSON.stringify(pod));
    const {metadata} = await place.release.client.get(Pods, {namespace: place.namespace, name: 'thief'});
    const token = await boundTo(metadata, 'carrel-mcp', 'default');
    const reply = await token.rpc(door, 'tools/list');
    expect(reply).toMatchObject(refused);
    expect(reply.text).toContain('The pod of this token is not the pod of any session now.');
  });

  it('a person with audience carrel-mcp is no session', async () => {
    const token = new Client({authorization: `Bearer ${await tokenOf(place, 'default', 'carrel-mcp')}`});
    expect(await token.rpc(door, 'tools/list')).toMatchObject(refused);
  });

  it('one of a pod that the session has left opens nothing any more', async () => {
    const token = await boundTo(podOf(session));
    expect(await token.tools(door)).toContain('get_session');
    const asleep = '{"spec":{"desired":"Sleeping"}}';
    await place.kubectl(['patch', 'sessions.carrel.dev', 'me', '--type=merge', '-p', asleep]);
    await place.untilSession('me', (s) => s.status?.phase === 'Sleeping');
    await until(60_000, async () => expect(await token.rpc(door, 'tools/list')).toMatchObject(refused));
    await place.turn('wake', 'me', 'say awake');
    await place.untilTurn('me', 2);
    expect(podOf(await place.get('me')).uid).not.toBe(podOf(session).uid);
    expect(await token.rpc(door, 'tools/list')).toMatchObject(refused);
  });
});
