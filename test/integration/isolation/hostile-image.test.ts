import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {run} from '../../../hack/cluster/command.ts';
import {openRelease, Place, type Release} from '../../support/release.ts';
import {podOf} from './attack.ts';

/** Leaves a trace of every process of Node that it is loaded into. */
const TRACE = `require('node:fs').appendFileSync('/workspace/loaded', process.execPath + '\\n');\n`;
const ENV = {
  NODE_OPTIONS: '--require=/attack/trace.cjs',
  LD_PRELOAD: '/attack/lib/preload.so',
  LD_LIBRARY_PATH: '/attack/lib',
};

/** The scripted agent's image with an environment that turns on whoever starts a program in it. */
async function hostileImage({cluster, images}: Release): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-hostile-'));
  try {
    const lib = join(folder, 'attack/lib');
    await mkdir(lib, {recursive: true});
    await writeFile(join(folder, 'attack/trace.cjs'), TRACE);
    // No libraries at all: a loader that takes them fails with `file too short`, or says so.
    for (const name of ['preload.so', 'libstdc++.so.6', 'libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'])
      await writeFile(join(lib, name), 'none');
    const tar = join(folder, 'layer.tar');
    await run('tar', ['-cf', tar, '-C', folder, 'attack']);
    const tag = `${cluster.registry}/carrel/hostile-agent:test`;
    const {crane} = cluster.tools;
    await run(crane, ['append', '--insecure', '-b', images.scriptedAgent, '-f', tar, '-t', tag]);
    const env = Object.entries(ENV).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    await run(crane, ['mutate', '--insecure', tag, ...env, '-t', tag]);
    const digest = (await run(crane, ['digest', '--insecure', tag])).trim();
    return `${cluster.registry}/carrel/hostile-agent@${digest}`;
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

describe('an image whose environment turns on the loader and on Node', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'hostile');
    const image = await hostileImage(place.release);
    await place.agent('silent', {image, workspace: {size: '64Mi'}});
    // The same setting by the Agent is for its own process: it shows that the trace works.
    const env = [{name: 'NODE_OPTIONS', value: ENV.NODE_OPTIONS}];
    await place.agent('asked', {image, env, workspace: {size: '64Mi'}});
    for (const agent of ['silent', 'asked']) await place.session(agent, {agent, prompt: 'env'});
  });
  afterAll(async () => {
    await place.remove();
  });

  /** Programs that loaded the trace. */
  async function loaded(session: string): Promise<string> {
    const line = 'if [ -e /workspace/loaded ]; then cat /workspace/loaded; fi';
    return await place.kubectl(['exec', await podOf(place, session), '-c', 'agent', '--', '/bin/sh', '-c', line]);
  }

  it('reaches neither shim nor runner, nor the agent: they start and work', async () => {
    const turn = await place.untilTurn('silent', 1);
    expect(turn.status).toMatchObject({phase: 'Completed'});
    expect(turn.status?.response).not.toMatch(/NODE_OPTIONS|LD_PRELOAD|LD_LIBRARY_PATH|KUBERNETES_/);
    expect(await loaded('silent')).toBe('');
    const logs = await place.kubectl(['logs', await podOf(place, 'silent'), '--all-containers']);
    expect(logs).not.toMatch(/ld\.so|file too short|cannot open shared object/);
  });

  it('what the Agent itself sets reaches its own process and not the shim above it', async () => {
    const turn = await place.untilTurn('asked', 1);
    expect(turn.status).toMatchObject({phase: 'Completed'});
    expect(turn.status?.response).toContain('NODE_OPTIONS');
    expect(new Set((await loaded('asked')).trim().split('\n'))).toEqual(new Set(['/usr/local/bin/node']));
  });
});
