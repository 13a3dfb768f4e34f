import {spawnSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const NOBODY = 65_534;
/** Programs that are there, by name: what each does in the language of the shell. */
type Programs = Record<string, string>;
const NPM = `if [ "$1" = --version ]; then echo 10.0.0; else echo "$@" >npm-was-called; exit 1; fi`;
const GIT = 'echo git version 2.0';
const READY = 'carrel: this machine is not ready; nothing was changed:';

let folder: string;
let checkout: string;
let node: string;
const asRoot = process.getuid?.() === 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-first-'));
  checkout = join(folder, 'checkout');
  for (const file of ['hack/run.mjs', 'hack/prerequisites.mjs', 'package-lock.json']) {
    mkdirSync(dirname(join(checkout, file)), {recursive: true});
    copyFileSync(join(ROOT, file), join(checkout, file));
  }
  for (const [module, go] of [
    ['older', '1.26.9'],
    ['newer', '1.26.10'],
  ] as const) {
    mkdirSync(join(checkout, 'hack/cluster/go', module), {recursive: true});
    writeFileSync(join(checkout, 'hack/cluster/go', module, 'go.mod'), `module ${module}\n\ngo ${go}\n`);
  }
  mkdirSync(join(folder, 'bin'));
  // A clone of root's may be out of reach of other users, and its Node with it.
  node = asRoot ? join(folder, 'node') : process.execPath;
  if (asRoot) copyFileSync(process.execPath, node);
});
afterEach(() => rmSync(folder, {recursive: true}));

/**
 * Runs the first script as somebody who is not root, on a machine with nothing but these programs, where everything below
 * the test's folder is theirs to write.
 */
function first(args: readonly string[], programs: Programs = {}, env: NodeJS.ProcessEnv = {}) {
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  if (asRoot) for (const path of [folder, ...everything()]) chownSync(path, NOBODY, NOBODY);
  const before = everything().map(stampOf);
  const done = spawnSync(node, [join(checkout, 'hack/run.mjs'), ...args], {
    cwd: checkout,
    encoding: 'utf8',
    env: {PATH: join(folder, 'bin'), HOME: folder, TMPDIR: folder, ...env},
    ...(asRoot ? {uid: NOBODY, gid: NOBODY} : {}),
  });
  const [head, ...problems] = done.stderr.trim().split('\n');
  return {code: done.status, head, problems, before, after: everything().map(stampOf)};
}

function everything(): string[] {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function stampOf(path: string): string {
  const {mode, size, mtimeMs} = lstatSync(path);
  return `${path} ${mode} ${size} ${mtimeMs}`;
}

describe('the first script on a machine that is not ready', () => {
  test.each([['cluster', 'up'], ['demo'], ['test'], ['bench'], ['images']])(
    '%s says all that is missing, each with the way to get it, and writes nothing',
    (...args) => {
      const {code, head, problems, before, after} = first(args);
      expect({code, head}).toEqual({code: 2, head: READY});
      expect(problems).toEqual([
        expect.stringMatching(/^- npm is missing: .*https:\/\/nodejs\.org/),
        expect.stringMatching(/^- Git is missing: apt-get install git$/),
        expect.stringMatching(/^- Go is missing: install Go from https:\/\/go\.dev\/dl\//),
        expect.stringMatching(/^- not root: run the same command as root/),
        expect.stringMatching(/^- apt-get is missing: .*use Debian or Ubuntu, or set CARREL_KUBECONFIG/),
      ]);
      expect(after).toEqual(before);
    },
  );

  test.each([
    [['verify'], []],
    [['generate'], []],
    [['test', '--unit'], [expect.stringMatching(/^- openssl is missing: apt-get install openssl$/)]],
  ])('%j needs neither root nor Go nor apt-get', (args, more) => {
    const {code, head, problems, before, after} = first(args);
    expect({code, head}).toEqual({code: 2, head: READY});
    expect(problems).toEqual([
      expect.stringMatching(/^- npm is missing: /),
      expect.stringMatching(/^- Git is missing: /),
      ...more,
    ]);
    expect(after).toEqual(before);
  });

  test.each([
    ['go1.26.0', 'too old'],
    ['go1.26.9', 'too old'],
    ['go1.9.20', 'too old'],
    ['go1.26.10', 'taken'],
    ['go1.27.0', 'taken'],
    ['go2.0', 'taken'],
  ])('where the modules ask for Go 1.26.9 and 1.26.10, %s is %s', (version, verdict) => {
    const {code, problems, before, after} = first(['cluster', 'up'], {npm: NPM, git: GIT, go: `echo ${version}`});
    const way = 'install Go from https://go.dev/dl/';
    const old = expect.stringContaining(`- Go is ${version}, at least go1.26.10 is needed: ${way}`);
    expect(code).toBe(2);
    expect(problems).toEqual([
      ...(verdict === 'taken' ? [] : [old]),
      expect.stringMatching(/^- not root: /),
      expect.stringMatching(/^- apt-get is missing: /),
    ]);
    expect(after).toEqual(before);
  });

  test("with a cluster of somebody's own, neither root nor apt-get is asked for, and Go still is", () => {
    const {code, problems, before, after} = first(['test'], {npm: NPM, git: GIT}, {CARREL_KUBECONFIG: '/their/config'});
    expect(code).toBe(2);
    expect(problems).toEqual([expect.stringMatching(/^- Go is missing: /)]);
    expect(after).toEqual(before);
  });

  test('to push the image, neither root nor apt-get is asked for, and Go still is', () => {
    const {code, problems, before, after} = first(['image', 'registry.example/carrel'], {npm: NPM, git: GIT});
    expect(code).toBe(2);
    expect(problems).toEqual([expect.stringMatching(/^- Go is missing: /)]);
    expect(after).toEqual(before);
  });

  test.each([[[]], [['unknown']], [['toString']]])('called with %j it says what it can be called with', (args) => {
    const {code, head, before, after} = first(args);
    expect(code).toBe(2);
    expect(head).toMatch(/^carrel: usage: node hack\/run\.mjs <.*demo.*test.*verify.*>/);
    expect(after).toEqual(before);
  });
});

test('on a machine that is ready the packages are installed next, and where that fails nothing is started', () => {
  const {code, head, problems} = first(['verify'], {npm: NPM, git: GIT});
  expect({code, head}).toEqual({code: 2, head: expect.stringContaining('npm packages ...')});
  expect(problems).toEqual(['carrel: npm ci failed; read its messages above and run the same command again']);
  expect(readFileSync(join(checkout, 'npm-was-called'), 'utf8')).toMatch(/^ci --ignore-scripts /);
});
