// What only a person can provide. Plain JavaScript, because it runs before anything is installed.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** Oldest Node that can run these scripts' first step. */
const OLDEST_NODE = 20;

/** Modules whose `go` lines say which Go builds them. */
const MODULES = join(dirname(fileURLToPath(import.meta.url)), 'cluster/go');

/**
 * Everything that this machine lacks and that the scripts do not install themselves, each with the way to get it.
 * @param {{light?: boolean, openssl?: boolean, cluster?: boolean}} [options] light: neither a cluster nor a tool that is
 *   built is used, so neither root nor Go is needed; openssl: it is needed and nothing installs it; cluster: one is made, so
 *   root is needed.
 * @returns {string[]}
 */
export function problems({light = false, openssl = false, cluster = true} = {}) {
  const found = [];
  if (process.platform !== 'linux' || process.arch !== 'x64')
    found.push(`this is ${process.platform} on ${process.arch}: Linux on x64 is needed`);
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
    found.push(`Node is ${process.version}, at least v${OLDEST_NODE} is needed: https://nodejs.org`);
  if (outputOf('npm', ['--version']) === undefined)
    found.push('npm is missing: it comes with Node from https://nodejs.org, or apt-get install npm');
  if (outputOf('git', ['--version']) === undefined) found.push('Git is missing: apt-get install git');
  if (openssl && outputOf('openssl', ['version']) === undefined)
    found.push('openssl is missing: apt-get install openssl');
  if (light) return found;
  const go = goProblem();
  if (go !== undefined) found.push(go);
  if (!cluster || process.env.CARREL_KUBECONFIG) return found;
  if (process.getuid?.() !== 0) found.push('not root: run the same command as root (sudo -E, or in a root shell)');
  if (outputOf('apt-get', ['--version']) === undefined)
    found.push(
      'apt-get is missing: the scripts install Debian packages; use Debian or Ubuntu, or set CARREL_KUBECONFIG and CARREL_REGISTRY',
    );
  return found;
}

function goProblem() {
  const how = 'install Go from https://go.dev/dl/ (unpack to /usr/local and put /usr/local/go/bin on the PATH)';
  const version = outputOf('go', ['env', 'GOVERSION']);
  if (version === undefined) return `Go is missing: ${how}`;
  const wanted = oldestGo();
  const found = partsOf(/go([\d.]+)/.exec(version)?.[1] ?? '');
  if (compare(found, wanted) >= 0) return undefined;
  return `Go is ${version.trim()}, at least go${wanted.join('.')} is needed: ${how}`;
}

/** The largest of the versions that the modules ask for: an older Go would stop after minutes of building. */
function oldestGo() {
  const files = readdirSync(MODULES).map((name) => join(MODULES, name, 'go.mod'));
  const lines = files
    .filter((file) => existsSync(file))
    .map((file) => /^go ([\d.]+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '');
  return lines.map(partsOf).reduce((a, b) => (compare(a, b) >= 0 ? a : b));
}

/** @param {string} version */
function partsOf(version) {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function compare(a, b) {
  return a.map((part, index) => part - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/**
 * What a command prints, or undefined when it is not there.
 * @param {string} command
 * @param {string[]} args
 */
function outputOf(command, args) {
  const result = spawnSync(command, args, {encoding: 'utf8'});
  return result.error || result.status !== 0 ? undefined : result.stdout;
}
