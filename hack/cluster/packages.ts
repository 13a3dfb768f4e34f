import {access} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {step} from '../progress.ts';
import {run, runAny} from './command.ts';

/** Debian packages that the image build and the tests use, whatever cluster there is. */
export const IMAGE_PACKAGES = ['busybox-static', 'openssl', 'patchelf', 'tini'] as const;

/** Debian packages that a native cluster uses, with those of the image build. */
const DEBIAN_PACKAGES = [
  ...IMAGE_PACKAGES,
  'ca-certificates',
  'conntrack',
  'containernetworking-plugins',
  'iproute2',
  'ipset',
  'iptables',
  'kmod',
  'nftables',
  'procps',
  'runc',
  'socat',
  'util-linux',
] as const;

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

/** Installs those of the given Debian packages that are missing; only root may. */
export async function installPackages(packages: readonly string[] = DEBIAN_PACKAGES): Promise<void> {
  if (!(await onPath('apt-get')) || !(await onPath('dpkg-query'))) {
    throw new Error(
      `apt-get is missing, and these Debian packages are needed: ${packages.join(' ')}; use Debian or Ubuntu`,
    );
  }
  const missing = await missingPackages(packages);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    throw new Error(`Debian packages are missing; as root: apt-get install ${missing.join(' ')}`);
  }
  await step(`install Debian packages: ${missing.join(' ')}`, async () => {
    const env = {DEBIAN_FRONTEND: 'noninteractive'};
    const install = ['install', '-y', '-q', '--no-install-recommends', ...missing];
    const first = await runAny('apt-get', install, {env});
    if (first.code === 0) return;
    await run('apt-get', ['update', '-q'], {env}); // no or old package lists
    await run('apt-get', install, {env});
  });
}
