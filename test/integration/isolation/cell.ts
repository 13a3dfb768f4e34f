import {expect} from 'vitest';
import {z} from 'zod';
import type {Place} from '../../support/release.ts';
import {attack, bringProgram, makeSecret, podOf} from './attack.ts';

/** Values that are nowhere else: where one is found, a secret was seen. */
export const PROVIDER_KEY = 'sk-canary-6b1f0c9d7e3a4258-provider';
const UNRELATED = 'canary-2f7d81c4a9e0-unrelated';
const GIVEN = 'canary-93ab5c6d1e2f-given';
/** Milliseconds for the first turn, also in a cluster that was made a moment ago. */
const FIRST_TURN = 240_000;

const Files = z.object({
  read: z.number(),
  bytes: z.number(),
  refused: z.number(),
  sys: z.number(),
  found: z.array(z.object({path: z.string(), what: z.string()})),
  paths: z.array(z.string()),
});
const Processes = z.object({
  uid: z.number(),
  stranger: z.string(),
  writes: z.record(z.string(), z.string()),
  runtime: z.object({entries: z.number(), changed: z.array(z.string()), binaries: z.record(z.string(), z.string())}),
  processes: z.array(
    z.object({
      pid: z.number(),
      command: z.string(),
      uid: z.string(),
      environ: z.string(),
      memory: z.string(),
      maps: z.string(),
      files: z.string(),
      root: z.string(),
      environment: z.array(z.string()),
    }),
  ),
});
type Process = z.infer<typeof Processes>['processes'][number];

/** A session pod, and what the agent's user finds in the agent's container by looking at everything. */
export interface Cell {
  readonly place: Place;
  readonly pod: string;
  readonly seen: z.infer<typeof Processes>;
}

/** Makes Session `cell` of an Agent that has secrets of every kind: its own, its model's, and one that is not its business. */
export async function makeCell(place: Place): Promise<void> {
  await makeSecret(place, 'provider', {token: PROVIDER_KEY, origin: 'https://model.example'});
  await makeSecret(place, 'unrelated', {value: UNRELATED});
  await makeSecret(place, 'given', {value: GIVEN});
  await place.agent('prisoner', {
    workspace: {size: '64Mi'},
    env: [{name: 'GIVEN', secret: {name: 'given', key: 'value'}}],
    model: {
      name: 'm',
      dialect: 'AnthropicMessages',
      baseUrl: 'https://model.example',
      key: {secret: 'provider', key: 'token'},
    },
  });
  await place.session('cell', {agent: 'prisoner', prompt: 'env'});
}

/** Waits for its first turn and looks around in it. */
export async function enterCell(place: Place): Promise<Cell> {
  await place.untilTurn('cell', 1, FIRST_TURN);
  const pod = await podOf(place, 'cell');
  return {place, pod, seen: await attack({place, pod}, 'processes', {result: Processes})};
}

/** The process of the agent itself, which has the environment that the runner gave. */
export function agentIn({seen}: Cell): Process {
  const found = seen.processes.find((one) => one.command.includes('scripted-agent.js'));
  if (found === undefined) throw new Error(`no agent among ${JSON.stringify(seen.processes)}`);
  return found;
}

const platformIn = ({seen}: Cell): Process[] => seen.processes.filter((one) => one.command.startsWith('/carrel/bin/'));

/** No file, environment or entry of /proc and /sys holds a key or a token. */
export async function expectNoSecretFound(cell: Cell): Promise<void> {
  const {place, pod} = cell;
  const tokens = await Promise.all(
    ['mcp', 'runner', 'egress'].map((name) => {
      const line = `process.stdout.write(require('node:fs').readFileSync('/var/run/secrets/carrel/${name}', 'utf8'))`;
      return place.kubectl(['exec', pod, '-c', 'runner', '--', '/carrel/bin/node', '-e', line]);
    }),
  );
  expect(tokens.every((token) => token.startsWith('eyJ'))).toBe(true);
  const signatures = tokens.map((token) => token.split('.')[2] ?? '');
  const needles = [GIVEN, PROVIDER_KEY, UNRELATED, ...signatures];
  const files = await attack({place, pod}, 'files', {input: {needles}, result: Files});
  // What the Agent gives is found where it is given, so the search works; nothing else is found anywhere.
  const given = files.found.filter((one) => one.what === 'needle 0');
  expect(given.map((one) => one.path)).toContain(`/proc/${agentIn(cell).pid}/environ`);
  expect(files.found.filter((one) => one.what !== 'needle 0')).toEqual([]);
  expect(files.read).toBeGreaterThan(100);
  expect(files.sys).toBeGreaterThan(100);
  expect(files.paths.filter((path) => /secrets|serviceaccount|token/.test(path))).toEqual([]);
  expect(files.paths.filter((path) => path.startsWith('/run/'))).toEqual(['/run/carrel', '/run/carrel/shim.sock']);
}

/** It sees shim and init, not the runner, and can look into neither. */
export function expectNoLookInside(cell: Cell): void {
  const {seen} = cell;
  const uids = new Set(seen.processes.map((one) => one.uid));
  expect([...uids]).toEqual([String(seen.uid)]);
  expect(seen.processes.filter((one) => one.command.includes('runner.js'))).toEqual([]);
  expect(
    platformIn(cell)
      .map((one) => one.command)
      .sort(),
  ).toEqual(['/carrel/bin/node /carrel/app/shim.js', '/carrel/bin/tini -- /carrel/bin/node /carrel/app/shim.js']);
  for (const {command, environ, memory, maps, files, root} of platformIn(cell)) {
    const codes = {environ, memory, maps, files, root};
    expect({command, ...codes}).toEqual({
      command,
      environ: 'EACCES',
      memory: 'EACCES',
      maps: 'EACCES',
      files: 'EACCES',
      root: 'EACCES',
    });
  }
}

/** It may trace its own children, and neither shim nor init. */
export async function expectNoTrace(cell: Cell): Promise<void> {
  const {place, pod} = cell;
  const program = await bringProgram(cell);
  const pids = platformIn(cell).map((one) => String(one.pid));
  const said = await place.kubectl(['exec', pod, '-c', 'agent', '--', program, 'trace', ...pids]);
  const refused = pids.map((pid) => `${pid}: operation not permitted`);
  expect(refused).toHaveLength(2);
  expect(said.trim().split('\n')).toEqual(['child: attached', ...refused]);
}

/** The socket's folder, the runtime and the root are not for writing, and the binaries not for reading. */
export function expectNoChange({seen}: Cell): void {
  expect(seen.writes).toEqual({newFile: 'EROFS', removeSocket: 'EROFS', openSocket: 'EROFS', root: 'EROFS'});
  expect(seen.runtime.changed).toEqual([]);
  expect(seen.runtime.entries).toBeGreaterThan(10);
  expect(seen.runtime.binaries).toMatchObject({node: 'EACCES', tini: 'EACCES'});
  expect(new Set(Object.values(seen.runtime.binaries))).toEqual(new Set(['EACCES']));
}
