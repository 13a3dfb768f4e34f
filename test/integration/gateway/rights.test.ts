import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';
import {Client, clientOf, type Door, EVERYTHING, makeAccount, openDoors, tokenOf, untilAgent} from './door.ts';

let place: Place;
let doors: [Door, Door];
let door: Door;
let author: Client;

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'rights');
  doors = await openDoors(place.release);
  [door] = doors;
  await makeAccount(place, 'author', EVERYTHING);
  await makeAccount(place, 'reader', [[['get', 'list'], ['sessions']]]);
  await makeAccount(place, 'writer', [[['create'], ['turns']]]);
  await makeAccount(place, 'nobody', [[['get'], ['agents']]]);
  await place.agent('draft', {draft: true});
  await place.session('one', {agent: 'draft', title: 'One'});
  author = await clientOf(place, 'author');
  await untilAgent(author, doors, 'draft');
});
afterAll(() => place?.remove());

describe('Kubernetes tokens and the rights of a Role', () => {
  it('a service account sees and does what its Role allows, and nothing else', async () => {
    const reader = await clientOf(place, 'reader');
    expect(await reader.tools(door)).toEqual(['get_session', 'quick_search_sessions']);
    expect(await reader.call(door, 'get_session', {session_id: 'one'})).toContain('- ID: one');
    expect(await reader.act(door, 'archive', 'one')).toMatch(/^rpc: -32602 /);
    expect(await reader.call(door, 'start_session', {agent_root: 'draft'})).toMatch(/^rpc: -32602 /);
    expect(await reader.rest(door, 'GET', '/sessions/one/transcript')).toMatchObject({
      status: 403,
      json: {code: 'forbidden'},
    });
    expect(await reader.rest(door, 'GET', '/sessions')).toMatchObject({status: 200, json: {total: 1}});
  });

  it('one action of a tool may be allowed and another not; the refusal names the missing right', async () => {
    const writer = await clientOf(place, 'writer');
    expect(await writer.tools(door)).toEqual(['action_session']);
    expect(await writer.act(door, 'follow_up', 'one', {prompt: 'hello'})).toContain('## follow_up: queued');
    const refused = await writer.act(door, 'update_title', 'one', {title: 'Mine'});
    expect(refused).toContain('error: forbidden: system:serviceaccount:');
    expect(refused).toContain(`may not patch sessions.carrel.dev "one" in namespace "${place.namespace}"`);
    expect((await place.get('one')).spec.title).toBe('One');
  });

  it('without any right there is no tool', async () => {
    expect(await (await clientOf(place, 'nobody')).tools(door)).toEqual([]);
  });

  it('rights end at the namespace', async () => {
    const elsewhere = new Client(author.headers, '/mcp/default');
    expect(await elsewhere.tools(door)).toEqual([]);
    expect(await elsewhere.call(door, 'quick_search_sessions')).toMatch(/^rpc: -32602 /);
    expect(await author.rest(door, 'GET', '/sessions?namespace=default')).toMatchObject({status: 403});
    const own = new Client(author.headers, `/mcp/${place.namespace}`);
    expect(await own.call(door, 'quick_search_sessions', {query: 'One'})).toContain('1 found');
  });

  it('what is written carries the name of the account, never a person', async () => {
    const [turn] = await place.turns('one');
    const name = `system:serviceaccount:${place.namespace}:writer`;
    expect(turn?.spec.author).toEqual({kind: 'Agent', name, channel: 'mcp'});
  });

  it('a right that is taken away is gone within seconds', async () => {
    const reader = await clientOf(place, 'reader');
    await place.kubectl(['delete', 'rolebinding', 'reader']);
    await until(60_000, async () => expect(await reader.tools(door)).toEqual([]));
  });
});

describe('tokens that are refused', () => {
  it.each([
    ['made for the API server', ''],
    ['made for somebody else', 'vault'],
  ])('one %s is told how to make a right one', async (_, audience) => {
    const wrong = new Client({authorization: `Bearer ${await tokenOf(place, 'author', audience)}`});
    const reply = await wrong.rpc(door, 'tools/list');
    expect(reply.status).toBe(401);
    expect(reply.text).toContain('kubectl create token <service account> --audience=carrel');
  });

  it('one whose signature was changed, and one whose account is gone', async () => {
    const token = await tokenOf(place, 'nobody');
    const [head, claims] = token.split('.');
    const forged = new Client({authorization: `Bearer ${head}.${claims}.${'A'.repeat(342)}`});
    expect((await forged.rpc(door, 'tools/list')).status).toBe(401);
    await place.kubectl(['delete', 'serviceaccount', 'nobody']);
    const orphan = new Client({authorization: `Bearer ${token}`});
    await until(60_000, async () => expect((await orphan.rpc(door, 'tools/list')).status).toBe(401));
  });
});
