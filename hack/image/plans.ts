import {existsSync} from 'node:fs';
import {chmod, copyFile, cp, mkdir, symlink} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {run} from '../cluster/command.ts';
import {bundle, processEntries} from './bundle.ts';
import type {ImagePlan, Layer} from './image.ts';
import {hardenBinaries, markModule, nodeOrigin, stageNode} from './runtime.ts';

/** Uid that owns the runtime: the runner's, so that the agent may execute but not read or trace it. */
const RUNTIME_UID = 65532;

/** The one image of the product: every process, and the runtime that is mounted into other images. */
export function runtimeImage(root: string): ImagePlan {
  const node: Layer = {
    uid: RUNTIME_UID,
    stage: async (folder) => {
      await stageNode(root, folder, '/carrel');
      await hardenBinaries(folder, '/carrel');
    },
    origin: () => nodeOrigin(root, '/carrel'),
  };
  const app: Layer = {
    uid: RUNTIME_UID,
    stage: async (folder) => {
      const target = join(folder, 'carrel/app');
      await bundle(await processEntries(root), target);
      await markModule(target);
    },
  };
  return {
    repository: 'carrel/carrel',
    layers: [node, app],
    entrypoint: ['/carrel/bin/node'],
    user: `${RUNTIME_UID}:${RUNTIME_UID}`,
  };
}

/** Node below /usr/local, for images of our own agents and test programs. */
function nodeLayer(root: string): Layer {
  return {
    uid: 0,
    stage: (folder) => stageNode(root, folder, '/usr/local'),
    origin: () => nodeOrigin(root, '/usr/local'),
  };
}

function programLayer(root: string, source: string, name: string): Layer {
  return {
    uid: 0,
    stage: async (folder) => {
      const target = join(folder, 'app');
      await bundle({[name]: join(root, source)}, target);
      await markModule(target);
    },
  };
}

const BUSYBOX_NAMES = [
  'sh',
  'cat',
  'ls',
  'sleep',
  'id',
  'env',
  'ps',
  'find',
  'grep',
  'head',
  'tail',
  'wc',
  'touch',
  'mkdir',
  'rm',
  'mount',
  'nc',
  'wget',
  'true',
];

/** Busybox and its names, and nothing else: no glibc. */
function busyboxLayer(): Layer {
  return {
    uid: 0,
    stage: async (folder) => {
      await mkdir(join(folder, 'bin'), {recursive: true});
      await copyFile('/bin/busybox', join(folder, 'bin/busybox'));
      await chmod(join(folder, 'bin/busybox'), 0o755);
      for (const name of BUSYBOX_NAMES) await symlink('busybox', join(folder, 'bin', name));
    },
  };
}

/** The scripted agent, with a shell beside it that tests and people can use. */
export function scriptedAgentImage(root: string): ImagePlan {
  return {
    repository: 'carrel/scripted-agent',
    layers: [nodeLayer(root), busyboxLayer(), programLayer(root, 'examples/agents/scripted/main.ts', 'scripted-agent')],
    entrypoint: ['/usr/local/bin/node', '/app/scripted-agent.js'],
    user: '65534:65534',
    env: {PATH: '/usr/local/bin:/bin'},
  };
}

/** The model upstream of the tests. */
export function modelStubImage(root: string): ImagePlan {
  return {
    repository: 'carrel/model-stub',
    layers: [nodeLayer(root), programLayer(root, 'test/support/model-stub/main.ts', 'model-stub')],
    entrypoint: ['/usr/local/bin/node', '/app/model-stub.js'],
    user: '65534:65534',
  };
}

/** This repository's files under /workspace: what the demo's agent works on. */
export function workspaceImage(root: string): ImagePlan {
  return {
    repository: 'carrel/workspace',
    layers: [
      {
        uid: 0,
        stage: async (folder) => {
          const listed = (await run('git', ['ls-files', '-z'], {cwd: root})).split('\0');
          for (const file of listed.filter((f) => f !== '' && existsSync(join(root, f)))) {
            await mkdir(dirname(join(folder, 'workspace', file)), {recursive: true});
            await cp(join(root, file), join(folder, 'workspace', file), {verbatimSymlinks: true});
          }
        },
      },
    ],
    entrypoint: ['/none'],
    user: '65534:65534',
  };
}

/** Busybox only: an image without glibc. */
export function busyboxImage(): ImagePlan {
  return {repository: 'carrel/busybox', layers: [busyboxLayer()], entrypoint: ['/bin/sh'], user: '65534:65534'};
}
