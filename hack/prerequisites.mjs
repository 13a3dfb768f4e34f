// What only a person can provide. Plain JavaScript, because it runs before anything is installed.
import {spawnSync} from 'node:child_process';

/** Oldest Go whose build of the cluster's modules works. */
const OLDEST_GO = [1, 26];
/** Oldest Node that can run these scripts' first step. */
const OLDEST_NODE = 20;

/**
 * Everything that this machine lacks and that the scripts do not install themselves, each with the way to get it.
 * @param {{light?: boolean}} [options] light: no cluster is made, so neither root nor Go is needed.
 * @returns {string[]}
 */
export function problems({light = false} = {}) {
  const found = [];
  if (process.platform !== 'linux' || process.arch !== 'x64') found.push(`this is ${process.platform} on ${process.arch}: Linux on x64 is needed`);
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) found.push(`Node is ${process.version}, at least v${OLDEST_NODE} is needed: https://nodejs.org`);
  if (outputOf('npm', ['--version']) === undefined) found.push('npm is missing: it comes with Node from https://nodejs.org, or apt-get install npm');
  if (outputOf('git', ['--version']) === undefined) found.push('Git is missing: apt-get install git');
  if (light || process.env.CARREL_KUBECONFIG) return found;
  if (process.getuid?.() !== 0) found.push('not root: run the same command as root (sudo -E, or in a root shell)');
  if (outputOf('apt-get', ['--version']) === undefined) found.push('apt-get is missing: the scripts install Debian packages; use Debian or Ubuntu, or set CARREL_KUBECONFIG and CARREL_REGISTRY');
  const go = goProblem();
  if (go !== undefined) found.push(go);
  return found;
}

function goProblem() {
  const how = 'install Go from https://go.dev/dl/ (unpack to /usr/local and put /usr/local/go/bin on the PATH)';
  const version = outputOf('go', ['env', 'GOVERSION']);
  if (version === undefined) return `Go is missing: ${how}`;
  const [major = 0, minor = 0] = (/go(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  const [wantMajor = 0, wantMinor = 0] = OLDEST_GO;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return undefined;
  return `Go is ${version.trim()}, at least go${OLDEST_GO.join('.')} is needed: ${how}`;
}

/** What a command prints, or undefined when it is not there. */
function outputOf(command, args) {
  const result = spawnSync(command, args, {encoding: 'utf8'});
  return result.error || result.status !== 0 ? undefined : result.stdout;
}
