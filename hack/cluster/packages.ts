import {access} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {step} from '../progress.ts';
import {run, runAny} from './command.ts';

/** Debian packages that a native cluster and the image build use. */
const DEBIAN_PACKAGES = [
  'busybox-static',
  'ca-certificates',
  'conntrack',
  'containernetworking-plugins',
  'iproute2',
  'ipset',
  'iptables',
  'kmod',
  'nftables',
  'openssl',
  'patchelf',
  'procps',
  'runc',
  'socat',
  'tini',
  'util-linux',
] as const;

/** The oldest Go whose build of the modules under `go/` works. */
const OLDEST_GO = [1, 26] as const;

async function onPath(command: string): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, command)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

async function goProblem(): Promise<string | undefined> {
  const how = 'install Go from https://go.dev/dl/ (unpack to /usr/local and put /usr/local/go/bin on the PATH)';
  if (!(await onPath('go'))) return `Go is missing: ${how}`;
  const version = await run('go', ['env', 'GOVERSION']);
  const [major = 0, minor = 0] = (/go(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  if (major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])) return undefined;
  return `Go is ${version.trim()}, at least go${OLDEST_GO.join('.')} is needed: ${how}`;
}

/** Everything that this machine lacks and that we do not install ourselves, each with the way to get it. */
async function missingPrerequisites(): Promise<string[]> {
  const problems: string[] = [];
  if (process.platform !== 'linux') problems.push(`this is ${process.platform}: a native cluster needs Linux`);
  if (process.getuid?.() !== 0) problems.push('not root: run the same command as root (sudo -E, or in a root shell)');
  if (!(await onPath('git'))) problems.push('Git is missing: apt-get install git');
  if (!(await onPath('npm'))) problems.push('npm is missing: apt-get install npm, or Node from https://nodejs.org');
  const go = await goProblem();
  if (go) problems.push(go);
  return problems;
}

/** Stops, before anything is changed, when something is missing that only a person can provide. */
export async function requirePrerequisites(): Promise<void> {
  const problems = await missingPrerequisites();
  if (problems.length > 0)
    throw new Error(`this machine is not ready; nothing was changed:\n- ${problems.join('\n- ')}`);
}

async function missingPackages(packages: readonly string[]): Promise<string[]> {
  // A package that dpkg never heard of makes it end with 1, the others are printed all the same.
  const {stdout} = await runAny('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n', ...packages]);
  const installed = new Set(
    stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return packages.filter((name) => !installed.has(name));
}

/** Installs those of the given Debian packages that are missing. */
export async function installPackages(packages: readonly string[] = DEBIAN_PACKAGES): Promise<void> {
  if (!(await onPath('apt-get')) || !(await onPath('dpkg-query'))) {
    throw new Error(
      `apt-get is missing: this needs Debian or Ubuntu, or set CARREL_KUBECONFIG and CARREL_REGISTRY to use a cluster that exists`,
    );
  }
  const missing = await missingPackages(packages);
  if (missing.length === 0) return;
  await step(`install Debian packages: ${missing.join(' ')}`, async () => {
    const env = {DEBIAN_FRONTEND: 'noninteractive'};
    const install = ['install', '-y', '-q', '--no-install-recommends', ...missing];
    const first = await runAny('apt-get', install, {env});
    if (first.code === 0) return;
    await run('apt-get', ['update', '-q'], {env}); // no or old package lists
    await run('apt-get', install, {env});
  });
}
