import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {copyFile, mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {run} from '../../../hack/cluster/command.ts';
import {renderExample} from '../../../hack/demo/example.ts';
import {ROOT} from '../../../hack/image/build.ts';
import {type Fence, fencesOf, RUN_PAGES, reasonOf} from '../../support/documents.ts';
import {openRelease, Place, type Release} from '../../support/release.ts';

/** Longest time for all blocks of a page; a bound, not an expectation. */
const PAGE_MS = 240_000;
const DIGEST = '0123456789abcdef'.repeat(4);

let release: Release;
let folder: string;
const places: Place[] = [];

beforeAll(async () => {
  release = await openRelease();
  folder = await mkdtemp(join(tmpdir(), 'carrel-docs-'));
  await renderExample(release.images);
});
afterAll(async () => {
  await Promise.all(places.map((place) => place.remove()));
  await rm(folder, {recursive: true, force: true});
});

const pages = RUN_PAGES.map((page) => ({
  page,
  blocks: fencesOf(page).filter((f) => f.language === 'sh' && reasonOf(f) === undefined),
}));

describe.concurrent('the shell blocks of a page run in order, in one shell, in a namespace of its own', () => {
  test.for(pages.filter(({blocks}) => blocks.length > 0).map(({page, blocks}) => [page, blocks] as const))(
    '%s',
    {timeout: PAGE_MS + 60_000},
    async ([page, blocks]) => {
      const kubeconfig = await namespaced(page);
      const {code, said} = await runBlocks(blocks, kubeconfig);
      expect(code, `${page}: ${said.slice(-4_000)}`).toBe(0);
    },
  );
});

test('the notes after an install lead to the answer of a first session', async () => {
  const {runtime, scriptedAgent} = release.images;
  const notes = {agentImage: scriptedAgent, agentCommand: ['/usr/local/bin/node', '/app/scripted-agent.js']};
  const values = JSON.stringify({image: {reference: runtime}, notes});
  const chart = ['install', 'carrel', join(ROOT, 'charts/carrel'), '--dry-run=client', '--values', '-'];
  const printed = await run(release.cluster.tools.helm, chart, {stdin: values});
  // What stands between the sentences is to be pasted into a shell.
  const text = printed
    .slice(printed.indexOf('NOTES:'))
    .replaceAll(/^(NOTES:|Carrel |[0-9]\. |Unguarded|This cluster ).*$/gm, '');
  const block = {page: 'NOTES.txt', line: 1, language: 'sh', note: '', text};
  const {code, said} = await runBlocks([block], await namespaced('notes'));
  expect(code, said.slice(-4_000)).toBe(0);
  expect(said).toMatch(/Completed +hello/);
});

test('objects in the pages are taken by the API server', async () => {
  const place = await Place.make(release, 'docs-yaml');
  places.push(place);
  const blocks = RUN_PAGES.flatMap(fencesOf).filter((f) => f.language === 'yaml' && reasonOf(f) === undefined);
  expect(blocks.length).toBeGreaterThan(0);
  for (const {page, line, text} of blocks) {
    const filled = text.replaceAll('<64 hex digits>', DIGEST);
    const taken = place.kubectl(['create', '--dry-run=server', '-f', '-'], filled);
    await expect(taken, `${page}:${line}`).resolves.toMatch(/created \(server dry run\)/);
  }
});

test('the settings for a shell name the kubeconfig and a kubectl', async () => {
  const settings = await run(process.execPath, [join(ROOT, 'hack/cluster/main.ts'), 'env']);
  const said = await run('bash', ['-euc', `${settings}\necho "$KUBECONFIG"; command -v kubectl helm`], {
    env: {PATH: '/usr/bin:/bin'},
  });
  const {kubeconfigPath, tools} = release.cluster;
  expect(said.trim().split('\n')).toEqual([kubeconfigPath, tools.kubectl, tools.helm]);
});

/** A copy of the kubeconfig whose namespace is a fresh one. */
async function namespaced(page: string): Promise<string> {
  const place = await Place.make(
    release,
    `docs-${page
      .replaceAll(/[^a-z]+/gi, '-')
      .toLowerCase()
      .slice(0, 40)}`,
  );
  places.push(place);
  const copy = join(folder, place.namespace);
  await copyFile(release.cluster.kubeconfigPath, copy);
  await run(release.cluster.tools.kubectl, [
    '--kubeconfig',
    copy,
    'config',
    'set-context',
    '--current',
    '--namespace',
    place.namespace,
  ]);
  return copy;
}

/** Runs the blocks in a process group of their own, so that what they leave in the background ends with them. */
async function runBlocks(blocks: readonly Fence[], kubeconfig: string): Promise<{code: number | null; said: string}> {
  const {kubectl, helm} = release.cluster.tools;
  const path = [dirname(process.execPath), dirname(kubectl), dirname(helm), process.env['PATH']].join(delimiter);
  const script = [
    `trap 'echo "stopped at: $BASH_COMMAND" >&2' ERR`,
    ...blocks.flatMap(({page, line, text}) => [`echo "--- ${page}:${line}" >&2`, text]),
  ].join('\n');
  const log = `${kubeconfig}.log`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec > '${log}' 2>&1\n${script}`], {
    cwd: ROOT,
    env: {...process.env, PATH: path, KUBECONFIG: kubeconfig},
    detached: true,
    stdio: 'ignore',
  });
  const late = setTimeout(() => endGroup(child), PAGE_MS);
  const [code]: (number | null)[] = await once(child, 'exit');
  clearTimeout(late);
  endGroup(child);
  return {code: code ?? null, said: await readFile(log, 'utf8')};
}

function endGroup({pid}: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // Nobody of the group is left.
  }
}
