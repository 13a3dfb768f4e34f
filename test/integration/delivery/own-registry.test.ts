import {join} from 'node:path';
import {beforeAll, expect, it} from 'vitest';
import {run, runAny} from '../../../hack/cluster/command.ts';
import {ROOT} from '../../../hack/image/build.ts';
import {openRelease, type Release} from '../../support/release.ts';

let release: Release;
beforeAll(async () => {
  release = await openRelease();
});

const publish = (...args: string[]) => runAny(process.execPath, [join(ROOT, 'hack/image.ts'), ...args], {cwd: ROOT});

it('the image that is pushed to a repository of one’s own is the one under test, and stays named there', async () => {
  const {registry, tools} = release.cluster;
  const digest = release.images.runtime.replace(/^.*@/, '');
  const repository = `${registry}/of-ones-own/carrel`;
  // The second time it is there already.
  for (const time of ['first', 'second']) {
    const {code, stdout, stderr} = await publish('--insecure', repository);
    expect(code, `${time}: ${stderr}`).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(`${repository}@${digest}`);
  }
  const tags = (await run(tools.crane, ['ls', '--insecure', repository])).trim().split('\n');
  const kept = tags.filter((tag) => tag.endsWith(`-${digest.slice('sha256:'.length).slice(0, 12)}`));
  expect(kept).toHaveLength(1);
  expect((await run(tools.crane, ['digest', '--insecure', `${repository}:${kept[0]}`])).trim()).toBe(digest);
});

it('a registry that cannot be pushed to is refused in words, with what may help', async () => {
  const {code, stdout, stderr} = await publish('127.0.0.1:1/carrel');
  expect({code, stdout}).toEqual({code: 1, stdout: ''});
  expect(stderr).toMatch(/^carrel: 127\.0\.0\.1:1\/carrel cannot be pushed to: .*connection refused$/m);
  for (const help of ['docker login 127.0.0.1:1, or ', 'create this one there', 'add --insecure'])
    expect(stderr).toContain(help);
});

it('a reference with a tag is refused before anything is built', async () => {
  const {code, stdout, stderr} = await publish(`${release.cluster.registry}/carrel:1`);
  expect({code, stdout}).toEqual({code: 1, stdout: ''});
  expect(stderr).toMatch(
    /^carrel: \S+\/carrel:1: the image gets a tag of its own .*, leave out :1; write npm run image/,
  );
});
