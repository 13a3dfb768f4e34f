import {mkdir, readdir, readFile, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Layout, layoutOf, SLOTS} from './layout.ts';
import {claimSlot} from './network.ts';

/** What is written down about a cluster: enough to start it again after a crash. */
export type ClusterRecord = {
  slot: number;
  nodes: number;
  apiserverArgs: readonly string[];
  /** The folders of the binaries it was started from. */
  build: string;
  /** References of the cluster's own images by repository. */
  images: Record<string, string>;
};

const file = (state: string, name: string) => join(state, name, 'cluster.json');

/** The record of a cluster, if there is one. */
export async function readRecord(state: string, name: string): Promise<ClusterRecord | undefined> {
  const text = await readFile(file(state, name), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const {slot, nodes, apiserverArgs = [], build = '', images = {}} = parse(text) ?? {};
  if (slot === undefined || nodes === undefined) {
    const way = `write {"slot": N, "nodes": N} into it, where \`ip netns\` shows crlN-net, and remove the cluster with \`down\``;
    throw new Error(`${file(state, name)} is not readable: ${way}; if there is no such namespace, delete the folder`);
  }
  return {slot, nodes, apiserverArgs, build, images};
}

function parse(text: string): Partial<ClusterRecord> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces the record in one step, so a crash leaves the old or the new one. */
export async function writeRecord(state: string, name: string, record: ClusterRecord): Promise<void> {
  const path = file(state, name);
  await mkdir(join(state, name), {recursive: true, mode: 0o700});
  await writeFile(`${path}.new`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** The names of all clusters in a state folder. */
async function listClusters(state: string): Promise<string[]> {
  const entries = await readdir(state, {withFileTypes: true}).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** Finds an address range that no other cluster of this machine uses, running or not. */
export async function findSlot(state: string): Promise<number> {
  const taken = new Set<number>();
  for (const name of await listClusters(state)) {
    const record = await readRecord(state, name);
    if (record) taken.add(record.slot);
  }
  for (let slot = 0; slot < SLOTS; slot++) {
    if (!taken.has(slot) && (await claimSlot(layoutOf(state, '', slot).prefix))) return slot;
  }
  throw new Error(
    `all ${SLOTS} address ranges are in use: remove a cluster with \`npm run cluster -- down --name NAME\``,
  );
}

/** The layout of a cluster that exists. */
export async function requireLayout(state: string, name: string): Promise<{layout: Layout; record: ClusterRecord}> {
  const record = await readRecord(state, name);
  if (!record) throw new Error(`there is no cluster ${name}: make it with \`npm run cluster -- up --name ${name}\``);
  return {layout: layoutOf(state, name, record.slot), record};
}
