import {chmod, copyFile, mkdir, mkdtemp, rm, symlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import type {Binaries} from '../build.ts';
import {run} from '../command.ts';

/** An image made of single files, without Docker and without a base. */
type ImagePlan = {
  repository: string;
  /** Files by their path in the image. */
  files: Record<string, string>;
  /** Links by their path in the image. */
  links?: Record<string, string>;
  entrypoint: readonly string[];
};

/** The images that a cluster itself runs, and busybox for its helper pods and for tests. */
export async function imagePlans(binaries: Binaries): Promise<ImagePlan[]> {
  const {folders} = binaries;
  const single = (name: 'pause' | 'coredns' | 'local-path-provisioner'): ImagePlan => ({
    repository: `carrel-cluster/${name}`,
    files: {[`/${name}`]: join(folders[name], name)},
    entrypoint: [`/${name}`],
  });
  const names = (await run('/bin/busybox', ['--list'])).split('\n').filter((name) => name !== '' && name !== 'busybox');
  const links = Object.fromEntries(names.map((name) => [`/bin/${name}`, 'busybox']));
  const busybox = {
    repository: 'carrel-cluster/busybox',
    files: {'/bin/busybox': '/bin/busybox'},
    links,
    entrypoint: ['/bin/sh'],
  };
  return [single('pause'), single('coredns'), single('local-path-provisioner'), busybox];
}

/** Builds an image, pushes it as `<registry>/<repository>:1` and returns its reference by digest. */
export async function pushImage(registry: string, crane: string, plan: ImagePlan): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-image-'));
  try {
    const root = join(folder, 'root');
    await mkdir(join(root, 'tmp'), {recursive: true});
    await chmod(join(root, 'tmp'), 0o1777);
    for (const [path, source] of Object.entries(plan.files)) {
      await mkdir(dirname(join(root, path)), {recursive: true});
      await copyFile(source, join(root, path));
      await chmod(join(root, path), 0o755);
    }
    for (const [path, target] of Object.entries(plan.links ?? {})) await symlink(target, join(root, path));
    const layer = join(folder, 'layer.tar');
    const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
    await run('tar', [...same, '-cf', layer, '-C', root, '.']);
    const tag = `${registry}/${plan.repository}:1`;
    await run(crane, ['append', '--insecure', '-f', layer, '-t', tag]);
    const entrypoint = `--entrypoint=${plan.entrypoint.join(',')}`;
    const platform = `--set-platform=linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
    await run(crane, ['mutate', '--insecure', tag, entrypoint, platform, '-t', tag]);
    const digest = (await run(crane, ['digest', '--insecure', tag])).trim();
    return `${registry}/${plan.repository}@${digest}`;
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}
