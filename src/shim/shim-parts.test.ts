import {spawnSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {childEnvironment} from './environment.ts';
import {placeInHome, writeFiles} from './files.ts';
import {unwritableFolders} from './folders.ts';
import {outOfMemoryKills, parseKills} from './memory.ts';
import {copyRuntime} from './runtime-copy.ts';
import {seedVolume} from './seed-volume.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-shim-'));
});
afterEach(() => rmSync(folder, {recursive: true, force: true}));
const at = (...parts: string[]) => path.join(folder, ...parts);

describe('files of the Agent', () => {
  test.each(['', '/etc/passwd', '../x', 'a/../../x', 'a//b', './a', 'a/', 'a\0b'])('path %j is refused', (name) => {
    expect(() => placeInHome('/home/agent', name)).toThrow(/inside \$HOME/);
  });

  test('are written with mode 0600, and a link in their place is replaced, not followed', () => {
    writeFileSync(at('victim'), 'kept');
    symlinkSync(at('victim'), at('settings.json'));
    writeFiles(folder, [
      {path: 'settings.json', content: 'new'},
      {path: '.config/deep/x', content: 'deep'},
    ]);
    expect(readFileSync(at('victim'), 'utf8')).toBe('kept');
    expect(readFileSync(at('settings.json'), 'utf8')).toBe('new');
    expect(statSync(at('.config/deep/x')).mode & 0o777).toBe(0o600);
  });
});

test('the child gets the container without Kubernetes and blank loader variables, and our HOME', () => {
  const container = {
    A: '1',
    KUBERNETES_PORT: 'x',
    NODE_OPTIONS: '',
    LD_PRELOAD: '',
    LD_LIBRARY_PATH: '/mine',
    HOME: '/root',
  };
  expect(
    childEnvironment(container, [{name: 'A', value: '2'}], {home: '/home/agent', workspace: '/workspace'}),
  ).toEqual({
    A: '2',
    LD_LIBRARY_PATH: '/mine',
    HOME: '/home/agent',
    PWD: '/workspace',
  });
});

test('a folder that cannot be written is named', () => {
  expect(unwritableFolders([folder])).toEqual([]);
  expect(unwritableFolders([at('missing')])).toEqual([`${at('missing')} cannot be written (ENOENT)`]);
});

test.each([
  ['v2', 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n', 2],
  ['v1', 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n', 1],
  ['an old kernel', 'oom_kill_disable 0\nunder_oom 0\n', 0],
])('out-of-memory kills are read from cgroup %s', (_name, text, kills) => {
  expect(parseKills(text)).toBe(kills);
  writeFileSync(at('counter'), text);
  expect(outOfMemoryKills([at('none'), at('counter')])).toBe(kills);
});

describe('seeding a volume', () => {
  const source = () => {
    mkdirSync(at('source/sub'), {recursive: true});
    writeFileSync(at('source/sub/file'), 'content', {mode: 0o755});
    symlinkSync('sub/file', at('source/link'));
    mkdirSync(at('volume'));
    return at('source');
  };

  test('copies once, with links and modes, and never again', () => {
    expect(seedVolume(at('volume'), source())).toBe('seeded');
    expect(readFileSync(at('volume/workspace/sub/file'), 'utf8')).toBe('content');
    expect(statSync(at('volume/workspace/sub/file')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(at('volume/workspace/link'))).toBe('sub/file');
    rmSync(at('volume/workspace/sub'), {recursive: true});
    expect(seedVolume(at('volume'), at('source'))).toBe('present');
    expect(existsSync(at('volume/workspace/sub'))).toBe(false);
  });

  test('begins anew after it was killed while it copied', () => {
    const from = source();
    mkdirSync(at('volume/.carrel-seeding/half'), {recursive: true});
    mkdirSync(at('volume/workspace'));
    expect(seedVolume(at('volume'), from)).toBe('seeded');
    expect(existsSync(at('volume/workspace/half'))).toBe(false);
  });

  test('content without a marker is never seeded over: SeedIncomplete', () => {
    const from = source();
    mkdirSync(at('volume/workspace'));
    writeFileSync(at('volume/workspace/work'), 'of somebody');
    expect(() => seedVolume(at('volume'), from)).toThrow(/delete the volume claim/);
    expect(readFileSync(at('volume/workspace/work'), 'utf8')).toBe('of somebody');
  });

  test.each([
    ['is not there', () => {}],
    ['is a file', () => writeFileSync(at('source'), 'no folder')],
  ])('a source that %s is said, and the volume is left for the next try', (_how, make) => {
    make();
    mkdirSync(at('volume'));
    expect(() => seedVolume(at('volume'), at('source'))).toThrow(/^the workspace image has no folder .*source$/);
    expect(existsSync(at('volume/workspace')) || existsSync(at('volume/.carrel-seeded'))).toBe(false);
  });

  test('its exit code says how it stands: 0 seeded, 3 content without a marker, 4 nothing to seed from', () => {
    const seed = path.join(import.meta.dirname, '../bin/seed.ts');
    const run = (volume: string) => spawnSync(process.execPath, [seed, at('source'), at(volume)]).status;
    mkdirSync(at('other'));
    expect(run('other')).toBe(4);
    source();
    expect(run('volume')).toBe(0);
    rmSync(at('volume/.carrel-seeded'));
    expect(run('volume')).toBe(3);
  });

  test('without a source it makes the folders', () => {
    mkdirSync(at('volume'));
    expect(seedVolume(at('volume'), undefined)).toBe('seeded');
    expect(existsSync(at('volume/home')) && existsSync(at('volume/workspace'))).toBe(true);
  });
});

test('the copied runtime is execute-only', () => {
  mkdirSync(at('carrel/bin'), {recursive: true});
  writeFileSync(at('carrel/bin/node'), 'binary', {mode: 0o755});
  copyRuntime(at('carrel'), at('copy'));
  copyRuntime(at('carrel'), at('copy'));
  expect(statSync(at('copy/bin/node')).mode & 0o777).toBe(0o711);
});
