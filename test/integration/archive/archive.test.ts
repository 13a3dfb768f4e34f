import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {z} from 'zod';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import type {SessionObject} from '../../../src/api/v1alpha1/index.ts';
import {StoredRecord} from '../../../src/api/wire/archive.ts';
import {chainStart, firstBreak} from '../../../src/domain/transcript/chain.ts';
import {openRelease, Place, type Release, until} from '../../support/release.ts';
import {type Client, clientOf, type Door, EVERYTHING, makeAccount, openDoors} from '../gateway/door.ts';

const Transcript = z.object({records: z.array(StoredRecord), next: z.number().optional()});

let place: Place;
let release: Release;
let doors: [Door, Door];
let caller: Client;

const inRelease = (args: readonly string[]) => release.kubectl(['-n', RELEASE_NAMESPACE, ...args]);
const archives = async (replicas: number): Promise<void> => {
  await inRelease(['scale', 'statefulset/carrel-archive', `--replicas=${replicas}`]);
  await inRelease(['rollout', 'status', 'statefulset/carrel-archive', '--timeout=180s']);
};

beforeAll(async () => {
  release = await openRelease();
  place = await Place.make(release, 'archive');
  doors = await openDoors(release);
  await makeAccount(place, 'reader', EVERYTHING);
  await place.agent('scribe', {workspace: {size: '64Mi'}});
  await place.session('live', {agent: 'scribe', prompt: 'say words of a turn that goes on\nstall 600'});
  await place.session('short', {agent: 'scribe', prompt: 'say kept for ever', title: 'Before'});
  caller = await clientOf(place, 'reader');
});
afterAll(async () => {
  await archives(1);
  await place?.remove();
});

/** The whole transcript as it can be read now; the chain is checked each time. */
async function records(session: string, at: 0 | 1 = 0): Promise<StoredRecord[]> {
  const reply = await caller.rest(doors[at], 'GET', `/sessions/${session}/transcript?limit=500`);
  if (reply.status !== 200) throw new Error(`transcript: ${reply.status} ${reply.text}`);
  const page = Transcript.parse(reply.json);
  const {uid} = (await place.get(session)).metadata;
  expect(firstBreak(page.records, chainStart(place.namespace, uid))).toBeUndefined();
  expect(page.records.map((r) => r.n)).toEqual(page.records.map((_, i) => i + 1));
  return page.records;
}

const waitsForArchive = ({status}: SessionObject) =>
  status?.conditions?.some((c) => c.type === 'ArchiveUnavailable' && c.status === 'True') === true;
const textOf = async (session: string, at: 0 | 1 = 0) => (await records(session, at)).map((r) => r.text ?? '').join('');
const patch = (kind: string, name: string, spec: object) =>
  place.kubectl(['patch', `${kind}.carrel.dev`, name, '--type=merge', '-p', JSON.stringify({spec})]);

describe('the archive of transcripts', () => {
  it('has what an agent said while its turn still runs, at every replica', async () => {
    await until(120_000, async () => {
      expect(await textOf('live', 0)).toContain('words of a turn that goes on');
      expect(await textOf('live', 1)).toContain('words of a turn that goes on');
    });
    expect((await place.get('live')).status?.phase).toBe('Running');
    expect((await place.turns('live'))[0]?.status?.finishedAt).toBeUndefined();
  });

  it('tells a whole turn: its start, its words, its end', async () => {
    await place.untilTurn('short', 1);
    const kinds = (await records('short')).map((r) => r.kind);
    expect(kinds).toContain('turn_started');
    expect(kinds.indexOf('turn_started')).toBeLessThan(kinds.indexOf('message'));
    expect(kinds.indexOf('message')).toBeLessThan(kinds.indexOf('turn_finished'));
  });

  it('is readable after the pod of the session is gone, and after its own pod was killed', async () => {
    await place.untilSession('short', (s) => s.status?.phase === 'Idle');
    await patch('sessions', 'short', {desired: 'Sleeping'});
    await place.untilSession('short', (s) => s.status?.phase === 'Sleeping');
    await until(60_000, async () => expect((await place.pods()).length).toBe(1));
    const before = await records('short');
    await inRelease(['delete', 'pod', 'carrel-archive-0', '--grace-period=0', '--force']);
    await until(180_000, async () => expect(await records('short', 1)).toEqual(before));
  });
});

describe('while the archive is away', () => {
  it('a turn works on, ends only when its record is kept, and nothing is lost or kept twice', async () => {
    await archives(0);
    await until(120_000, async () => {
      const reply = await caller.rest(doors[0], 'GET', '/sessions/short/transcript');
      expect([reply.status, reply.json]).toMatchObject([503, {code: 'archive_unavailable'}]);
    });
    const title = JSON.stringify({action: 'update_title', title: 'The work is done'});
    await place.turn('dark', 'short', `say spoken in the dark\ntool action_session ${title}\nsay last words`);
    await place.untilSession('short', (s) => s.spec.title === 'The work is done');
    await place.turn('never', 'live', 'say never');
    await place.untilSession('live', (s) => s.status?.queued === 1);
    await patch('turns', 'never', {stop: 'Withdraw'});
    const unfinished = async () => (await place.turns('short')).find((t) => t.metadata.name === 'dark')?.status;
    expect(await unfinished()).toMatchObject({phase: 'Running'});
    // Both say why: one waits for its runner, the other for the controller.
    for (const name of ['short', 'live']) await place.untilSession(name, waitsForArchive);

    await archives(1);
    const dark = await place.untilTurn('short', 2, 180_000);
    expect(dark.status).toMatchObject({phase: 'Completed', archived: true});
    expect(dark.status?.response).toContain('last words');
    for (const name of ['short', 'live']) await place.untilSession(name, (s) => !waitsForArchive(s));
    const messages = (await records('short')).filter((r) => r.kind === 'message');
    const said = messages.map((r) => r.text).join('');
    for (const words of ['kept for ever', 'spoken in the dark', 'last words'])
      expect(said.split(words)).toHaveLength(2);
  });

  it('a turn that the controller ended is in the archive as well', async () => {
    const never = await until(120_000, async () => {
      const turn = (await place.turns('live')).find((t) => t.metadata.name === 'never');
      expect(turn?.status).toMatchObject({phase: 'Cancelled', archived: true});
      return turn;
    });
    const ends = (await records('live')).filter(
      (r) => r.kind === 'turn_finished' && r.turn?.uid === never?.metadata.uid,
    );
    expect(ends).toHaveLength(1);
  });
});
