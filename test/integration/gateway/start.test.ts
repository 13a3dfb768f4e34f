import {randomUUID} from 'node:crypto';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {LABEL_SESSION} from '../../../src/api/meta.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {type Client, clientOf, type Door, EVERYTHING, field, makeAccount, openDoors, untilAgent} from './door.ts';

let place: Place;
let doors: [Door, Door];
let caller: Client;

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'starts');
  doors = await openDoors(place.release);
  await makeAccount(place, 'caller', EVERYTHING);
  await place.agent('scribe', {workspace: {size: '64Mi'}});
  await place.agent('draft', {draft: true});
  caller = await clientOf(place, 'caller');
  await untilAgent(caller, doors, 'scribe');
  await untilAgent(caller, doors, 'draft');
});
afterAll(() => place?.remove());

const start = (args: object, at: 0 | 1 = 0) => caller.call(doors[at], 'start_session', args);
const sessions = async () => (await place.kubectl(['get', 'sessions.carrel.dev', '-o', 'name'])).trim().split('\n');

describe('start_session with a key', () => {
  const key = randomUUID();
  const args = {agent_root: 'scribe', title: 'Parallel', prompt: 'say started once', idempotency_key: key};
  let id: string;

  it('Z-080 Z-076 twenty parallel calls at two replicas are one Session, one pod, one turn', async () => {
    const replies = await Promise.all(Array.from({length: 20}, (_, i) => start(args, i % 2 === 0 ? 0 : 1)));
    const ids = new Set(replies.map((r) => field(r, 'ID')));
    expect(ids.size).toBe(1);
    expect(replies.filter((r) => r.startsWith('## Session Started'))).toHaveLength(1);
    expect(replies.filter((r) => r.startsWith('## Existing Session Returned (idempotency_key matched)'))).toHaveLength(
      19,
    );
    [id = ''] = ids;
    expect(await sessions()).toEqual([`session.carrel.dev/${id}`]);
    const {status} = await place.untilTurn(id, 1);
    expect([status?.phase, status?.response?.trim()]).toEqual(['Completed', 'started once']);
    const pods = (await place.pods()).filter((p) => p.metadata.labels?.[LABEL_SESSION] === id);
    expect(pods).toHaveLength(1);
    expect(await place.turns(id)).toHaveLength(1);
    expect((await place.get(id)).status?.attempt).toBe(1);
  });

  it('Z-081 Z-084 a later repeat with other arguments returns the first session as it is', async () => {
    // The turn has ended; that the Session is idle again reaches this replica a moment later.
    const again = await until(30_000, async () => {
      const said = await start({...args, agent_root: 'no-such-agent', prompt: 'say something else', title: 'Other'}, 1);
      expect(field(said, 'Agent job')).not.toBe('running');
      return said;
    });
    expect(again).toMatch(/^## Existing Session Returned \(idempotency_key matched\)/);
    expect([field(again, 'ID'), field(again, 'Title'), field(again, 'Agent job')]).toEqual([id, 'Parallel', 'ended']);
    expect((await place.get(id)).spec).toMatchObject({prompt: 'say started once', title: 'Parallel', agent: 'scribe'});
    expect(await place.turns(id)).toHaveLength(1);
  });

  it('Z-088 REST has the same keys', async () => {
    const reply = await caller.rest(doors[1], 'POST', '/sessions', args);
    expect(reply).toMatchObject({status: 200, json: {replayed: true, session: {metadata: {name: id}}}});
    const fresh = {agent_root: 'draft', idempotency_key: randomUUID()};
    const made = await caller.rest(doors[0], 'POST', '/sessions', fresh);
    expect(made).toMatchObject({status: 201, json: {replayed: false}});
    expect(JSON.stringify(made.json)).toContain(field(await start(fresh, 1), 'ID'));
  });
});

describe('start_session', () => {
  it('Z-086 Z-087 without a key two calls are two sessions, and the tool says what to do instead', async () => {
    const before = (await sessions()).length;
    const [a, b] = await Promise.all([
      start({agent_root: 'draft', title: 'Twin'}),
      start({agent_root: 'draft', title: 'Twin'}, 1),
    ]);
    expect(field(a, 'ID')).not.toBe(field(b, 'ID'));
    expect(await sessions()).toHaveLength(before + 2);
    const text = await caller.describe(doors[0], 'start_session');
    expect(text).toContain('do not retry; first search by title with quick_search_sessions');
    expect(text).toContain('a fresh random UUID');
    expect(text).toContain('Never derive the key from the task, an issue number or the date');
  });

  it('Z-057 a session is found by its exact title, at the other replica too', async () => {
    const title = `Title ${randomUUID()}`;
    const id = field(await start({agent_root: 'draft', title}), 'ID');
    await expect
      .poll(() => caller.call(doors[1], 'quick_search_sessions', {query: title}), {timeout: 30_000})
      .toContain(`- ${id} "${title}"`);
  });

  it('Z-075 every argument lands in the Session, and the caller is its owner', async () => {
    const parent = field(await start({agent_root: 'draft', title: 'Parent'}), 'ID');
    const args = {agent_root: 'draft', prompt: 'say x', title: 'Child', goal: 'reach it', parent_session_id: parent};
    await expect
      .poll(() => caller.call(doors[0], 'get_session', {session_id: parent}), {timeout: 30_000})
      .toContain(`- ID: ${parent}`);
    const {metadata, spec} = await place.get(field(await start(args), 'ID'));
    expect(spec).toMatchObject({agent: 'draft', prompt: 'say x', title: 'Child', goal: 'reach it'});
    expect(spec.owner).toBe(`system:serviceaccount:${place.namespace}:caller`);
    expect(spec.requester).toMatchObject({session: parent, uid: (await place.get(parent)).metadata.uid});
    expect(metadata.ownerReferences).toBeUndefined();
  });

  it('Z-066 who names the session of somebody else as parent owns the new one, and speaks for themselves', async () => {
    await makeAccount(place, 'other', [[['create', 'get'], ['sessions']]]);
    const other = await clientOf(place, 'other');
    const parent = field(await start({agent_root: 'draft', title: 'Of caller'}), 'ID');
    const args = {agent_root: 'scribe', prompt: 'say mine', parent_session_id: parent};
    const id = await until(30_000, async () => {
      const said = await other.call(doors[0], 'start_session', args);
      expect(said).toContain('## Session Started');
      return field(said, 'ID');
    });
    const name = `system:serviceaccount:${place.namespace}:other`;
    const {spec} = await place.get(id);
    expect([spec.owner, spec.requester?.session]).toEqual([name, parent]);
    expect((await place.untilTurn(id, 1)).spec.author).toEqual({kind: 'System', name});
  });

  it('Z-078 without a prompt the session is prepared and waits', async () => {
    const args = {agent_root: 'scribe', title: 'Prepared', idempotency_key: randomUUID()};
    const id = field(await start(args), 'ID');
    await place.untilSession(id, (s) => s.status?.phase === 'Idle');
    expect(field(await start(args, 1), 'Agent job')).toBe('none: the session has no prompt; it waits for a message');
    expect(await place.turns(id)).toEqual([]);
    expect(await caller.act(doors[0], 'follow_up', id, {prompt: 'say ready'})).toContain('## follow_up: delivered');
    expect((await place.untilTurn(id, 1)).status?.response?.trim()).toBe('ready');
  });

  it('Z-079 Z-158 Z-159 what does not exist or does not fit makes no Session', async () => {
    const before = (await sessions()).length;
    expect(await start({agent_root: 'nobody'})).toContain('error: agent_not_found: Agent "nobody" does not exist');
    expect(await start({agent_root: 'scribe', model: 'big'})).toContain(
      'error: invalid_arguments: model "big" is not allowed',
    );
    expect(await start({agent_root: 7})).toContain('error: invalid_arguments: agent_root');
    expect(await start({agent_root: 'scribe', promt: 'x'})).toContain(
      'error: invalid_arguments: arguments: Unrecognized key',
    );
    expect(await start({agent_root: 'scribe', prompt: 'ä'.repeat(40_000)})).toContain('error: input_too_large');
    expect(await sessions()).toHaveLength(before);
  });
});
