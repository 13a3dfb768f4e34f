import {createHash} from 'node:crypto';
import {mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {run, runAny} from '../cluster/command.ts';

/** One layer: files that `stage` puts below the folder it is given. */
export interface Layer {
  /** Owner of every file. */
  uid: number;
  stage(folder: string): Promise<void>;
  /** Names everything that the content is made of, where that is much less work than to stage and read it. */
  origin?(): Promise<string>;
}

/** An image without a base. */
export interface ImagePlan {
  repository: string;
  layers: readonly Layer[];
  entrypoint: readonly string[];
  /** Numeric, so that a pod may ask for runAsNonRoot. */
  user: string;
  env?: Readonly<Record<string, string>>;
}

/** Where images go, and what builds them. */
export interface Target {
  registry: string;
  crane: string;
  /** Folder that remembers which content has which digest. */
  cache: string;
  /** Asks the registry for TLS that this machine trusts, as crane does by itself. Registries of our clusters have plain HTTP. */
  trusted?: boolean;
}

/** Builds an image without Docker and pushes it; the same content gives the same digest. Returns the reference by digest. */
export async function buildImage(plan: ImagePlan, target: Target): Promise<string> {
  process.umask(0o022); // what agents read is made readable, whatever the caller keeps to itself
  const work = await mkdtemp(join(tmpdir(), 'carrel-image-'));
  try {
    const staged = plan.layers.map((layer, index) => ({layer, folder: join(work, `layer-${index}`)}));
    await Promise.all(staged.filter(({layer}) => layer.origin === undefined).map(stage));
    const known = await knownDigest(plan, target, staged);
    if (known.reference !== undefined) return known.reference;
    await Promise.all(staged.filter(({layer}) => layer.origin !== undefined).map(stage));
    const tars: string[] = [];
    for (const {layer, folder} of staged) tars.push(await tarOf(folder, layer.uid));
    const reference = await push(plan, target, tars);
    await mkdir(target.cache, {recursive: true});
    await writeFile(known.file, reference.slice(reference.indexOf('@') + 1));
    return reference;
  } finally {
    await rm(work, {recursive: true, force: true});
  }
}

async function stage({layer, folder}: Staged): Promise<void> {
  await mkdir(folder);
  await layer.stage(folder);
}

/** A tar that depends on the content alone. */
async function tarOf(folder: string, uid: number): Promise<string> {
  const file = `${folder}.tar`;
  const owner = [`--owner=${uid}`, `--group=${uid}`, '--numeric-owner'];
  await run('tar', ['--sort=name', '--mtime=@0', '--format=gnu', ...owner, '-cf', file, '-C', folder, '.']);
  return file;
}

/** What crane is told of the connection to a registry. */
export function connectionTo({trusted = false}: Target): string[] {
  return trusted ? [] : ['--insecure'];
}

async function push(plan: ImagePlan, target: Target, tars: readonly string[]): Promise<string> {
  const {registry, crane} = target;
  const how = connectionTo(target);
  const tag = `${registry}/${plan.repository}:build`;
  await run(crane, ['append', ...how, ...tars.flatMap((t) => ['-f', t]), '-t', tag]);
  await run(crane, [
    'mutate',
    ...how,
    tag,
    `--entrypoint=${plan.entrypoint.join(',')}`,
    `--user=${plan.user}`,
    '--set-platform=linux/amd64',
    ...Object.entries(plan.env ?? {}).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    '-t',
    tag,
  ]);
  const digest = (await run(crane, ['digest', ...how, tag])).trim();
  return `${registry}/${plan.repository}@${digest}`;
}

interface Staged {
  layer: Layer;
  folder: string;
}

/** Reference of an image with this very content, if the registry still has it. */
async function knownDigest(
  plan: ImagePlan,
  target: Target,
  staged: readonly Staged[],
): Promise<{file: string; reference?: string}> {
  const hash = createHash('sha256').update(
    JSON.stringify([plan.repository, plan.entrypoint, plan.user, plan.env ?? {}]),
  );
  for (const {layer, folder} of staged) {
    hash.update(`layer ${layer.uid}\n`);
    if (layer.origin === undefined) await hashTree(hash, folder, '');
    else hash.update(`origin ${await layer.origin()}\n`);
  }
  const file = join(target.cache, hash.digest('hex'));
  const digest = await readFile(file, 'utf8').catch(() => undefined);
  if (digest === undefined) return {file};
  const reference = `${target.registry}/${plan.repository}@${digest}`;
  const there = await runAny(target.crane, ['manifest', ...connectionTo(target), reference]);
  return there.code === 0 ? {file, reference} : {file};
}

async function hashTree(hash: ReturnType<typeof createHash>, root: string, path: string): Promise<void> {
  const entries = await readdir(join(root, path), {withFileTypes: true});
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = join(path, entry.name);
    const full = join(root, child);
    if (entry.isDirectory()) {
      hash.update(`d ${child} ${(await stat(full)).mode & 0o777}\n`);
      await hashTree(hash, root, child);
    } else if (entry.isSymbolicLink()) hash.update(`l ${child} ${await readlink(full)}\n`);
    else hash.update(`f ${child} ${(await stat(full)).mode}\n`).update(await readFile(full));
  }
}
