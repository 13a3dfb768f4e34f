import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, readdir, readFile, rename, rm, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {step} from '../progress.ts';
import {run} from './command.ts';
import {COMPONENTS, type Component, type ComponentName} from './components.ts';

const SOURCES = fileURLToPath(new URL('go/', import.meta.url));
// No C compiler is needed anywhere, and the same source gives the same binary in any folder.
const FLAGS = '-trimpath -buildvcs=false -modcacherw';

/** Where each component's binaries lie. */
export type Binaries = {folders: Record<ComponentName, string>; root: string};

/** Go's environment: its caches live under ours, so one folder holds everything that a second run needs. */
function goEnvironment(cache: string): Record<string, string> {
  return {
    GOMODCACHE: join(cache, 'go', 'mod'),
    GOCACHE: join(cache, 'go', 'build'),
    CGO_ENABLED: '0',
    GOFLAGS: FLAGS,
    GOTOOLCHAIN: 'local',
  };
}

/** Names the folder of a component by everything that its binary is made from. */
async function folderOf(cache: string, component: Component): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([component, FLAGS, process.arch]));
  const source = join(SOURCES, component.name);
  for (const file of (await readdir(source)).sort()) {
    if (/\.(go|mod|sum)$/.test(file)) hash.update(file).update(await readFile(join(source, file)));
  }
  return join(cache, 'bin', `${component.name}-${hash.digest('hex').slice(0, 16)}`);
}

async function build(cache: string, component: Component, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, {recursive: true});
  await step(`build ${component.name} with Go`, async (note) => {
    let packages = 0;
    let modules = 0;
    const output = component.target === '.' ? join(unfinished, component.name) : `${unfinished}/`;
    await run('go', ['build', '-v', `-ldflags=${component.ldflags}`, '-o', output, component.target], {
      cwd: join(SOURCES, component.name),
      env: goEnvironment(cache),
      onErrorLine: (line) => {
        if (line.startsWith('go: downloading')) modules++;
        else packages++;
        note(`${modules} modules loaded, ${packages} packages compiled`);
      },
    });
  });
  for (const link of component.links ?? []) await symlink(component.name, join(unfinished, link));
  await rm(folder, {recursive: true, force: true});
  await rename(unfinished, folder);
}

/** Builds what is not in the cache yet and says where everything is. */
export async function ensureBinaries(cache: string, wanted?: readonly ComponentName[]): Promise<Binaries> {
  const binaries = await findBinaries(cache);
  for (const component of COMPONENTS) {
    const folder = binaries.folders[component.name];
    if (!wanted || wanted.includes(component.name)) {
      if (!existsSync(folder)) await build(cache, component, folder);
    }
  }
  return binaries;
}

/** Says where every component lies once it is built, without building anything. */
export async function findBinaries(cache: string): Promise<Binaries> {
  const folder = async (name: ComponentName) => {
    const component = COMPONENTS.find((one) => one.name === name);
    if (!component) throw new Error(`no component ${name}`);
    return folderOf(cache, component);
  };
  return {
    root: join(cache, 'bin'),
    folders: {
      kubernetes: await folder('kubernetes'),
      crane: await folder('crane'),
      containerd: await folder('containerd'),
      coredns: await folder('coredns'),
      'kube-router': await folder('kube-router'),
      'local-path-provisioner': await folder('local-path-provisioner'),
      helm: await folder('helm'),
      registry: await folder('registry'),
      pause: await folder('pause'),
    },
  };
}
