import {cp, mkdtemp, rm, symlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {ROOT} from '../../../hack/image/build.ts';
import {buildImage} from '../../../hack/image/image.ts';
import {runtimeImage} from '../../../hack/image/plans.ts';
import {openRelease, Place} from '../../support/release.ts';
import {type BareAgent, bareAgents, targetOf} from './agents.ts';

describe('the runtime as an image volume', () => {
  let place: Place;
  let agents: Record<string, BareAgent>;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'volume');
    agents = await bareAgents(place.release.images, targetOf(place.release));
    for (const [name, {spec}] of Object.entries(agents)) {
      await place.create('Agent', name, spec);
      await place.session(name, {agent: name, prompt: 'hello'});
    }
  });
  afterAll(async () => {
    await place.remove();
  });

  it.each(['busybox', 'static'])('an image without glibc or anything of ours runs a turn: %s', async (name) => {
    const turn = await place.untilTurn(name, 1);
    expect(turn.status).toMatchObject({phase: 'Completed', stopReason: 'EndTurn'});
    expect(turn.status?.response).toContain(agents[name]?.answer);
    const pod = (await place.pods()).find((one) => one.metadata.labels?.['carrel.dev/session'] === name);
    const volume = pod?.spec?.volumes?.find((one) => one.name === 'carrel-runtime');
    expect(volume).toMatchObject({image: {reference: expect.stringMatching(/\/carrel\/carrel@sha256:[0-9a-f]{64}$/)}});
    expect(pod?.spec?.initContainers?.map((one) => one.name)).toEqual(['runner']);
  });

  it('the runtime image that is built twice has the same digest, without a look at what was built before', async () => {
    const {registry, crane} = targetOf(place.release);
    const folder = await mkdtemp(join(tmpdir(), 'carrel-twice-'));
    try {
      // A copy: whoever edits a source between the two builds makes two different images.
      const root = join(folder, 'root');
      await cp(join(ROOT, 'src'), join(root, 'src'), {recursive: true});
      await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
      const build = (cache: string) =>
        buildImage({...runtimeImage(root), repository: 'carrel/twice'}, {registry, crane, cache: join(folder, cache)});
      expect(await build('first')).toBe(await build('second'));
    } finally {
      await rm(folder, {recursive: true, force: true});
    }
  });
});
