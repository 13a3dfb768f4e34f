import {spawn} from 'node:child_process';
import {closeSync, openSync} from 'node:fs';
import {mkdir, readdir, readFile, readlink, rm, stat, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {waitFor} from '../wait.ts';

/** What is written down about a process, enough to know it again: a number alone may belong to a stranger by now. */
type Identity = {pid: number; startTime: string; network: string};

/** A process that outlives this script. */
type ProcessPlan = {
  name: string;
  /** The network namespace to run in. */
  namespace: string;
  command: readonly string[];
  env?: Record<string, string>;
  log: string;
};

/** The start time of a live process, in clock ticks since boot: field 22 of its stat line. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' '); // the name before it may hold spaces
  const dead = fields[0] === 'Z' || fields[0] === 'X';
  return dead && !(await hasThreads(pid)) ? undefined : fields[19];
}

/** The first thread of a killed process may be dead a moment before the others, and these still hold its sockets. */
async function hasThreads(pid: number): Promise<boolean> {
  return (await readdir(`/proc/${pid}/task`).catch(() => [])).length > 1;
}

function parseIdentity(text: string): Identity | undefined {
  const [pid, startTime, network] = text.trim().split('\n');
  return pid && startTime && network ? {pid: Number(pid), startTime, network} : undefined;
}

/** Starts a process in a network namespace, detached, and writes down who it is. */
export async function startProcess(pids: string, plan: ProcessPlan): Promise<void> {
  await mkdir(pids, {recursive: true});
  await mkdir(dirname(plan.log), {recursive: true});
  const path = `/run/netns/${plan.namespace}`;
  const network = `net:[${(await stat(path)).ino}]`;
  const log = openSync(plan.log, 'a');
  const child = spawn('nsenter', [`--net=${path}`, ...plan.command], {
    detached: true,
    stdio: ['ignore', log, log],
    env: {...process.env, ...plan.env},
  });
  closeSync(log);
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
  child.unref();
  const startTime = await startTimeOf(pid);
  if (startTime === undefined) throw new Error(`${plan.name} ended at once; see ${plan.log}`);
  await writeFile(join(pids, plan.name), `${pid}\n${startTime}\n${network}\n`);
  // Until nsenter has entered the namespace, the process would not be known again.
  await waitFor(
    `start of ${plan.name} (see ${plan.log})`,
    {timeoutMs: 10_000, everyMs: 5},
    async () => (await findProcess(pids, plan.name)) !== undefined,
  );
}

/** The number of the process if it still is the one that was started under this name. */
export async function findProcess(pids: string, name: string): Promise<number | undefined> {
  const identity = parseIdentity(await readFile(join(pids, name), 'utf8').catch(() => ''));
  if (!identity) return undefined;
  if ((await startTimeOf(identity.pid)) !== identity.startTime) return undefined;
  const network = await readlink(`/proc/${identity.pid}/ns/net`).catch(() => '');
  return network === identity.network ? identity.pid : undefined;
}

/** The first process of the PID namespace that a process made with `unshare --fork`. */
export async function firstChild(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const first = Number(children.trim().split(' ')[0]);
  return first > 0 ? first : undefined;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it ended in the meantime
  }
}

/** Ends a process and waits until it is gone: TERM and `graceMs` of time first, unless that is 0. */
export async function stopProcess(pids: string, name: string, graceMs: number): Promise<void> {
  const pid = await findProcess(pids, name);
  if (pid !== undefined) {
    const startTime = await startTimeOf(pid);
    const gone = async () => startTime === undefined || (await startTimeOf(pid)) !== startTime;
    if (graceMs > 0) {
      signal(pid, 'SIGTERM');
      await waitFor(`end of ${name}`, {timeoutMs: graceMs, everyMs: 50}, gone).catch(() => {});
    }
    if (!(await gone())) signal(pid, 'SIGKILL');
    await waitFor(`end of ${name} after SIGKILL`, {timeoutMs: 10_000, everyMs: 20}, gone);
  }
  await rm(join(pids, name), {force: true});
}

/** Sends a signal to any process; for those whose number was just looked up. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  signal(pid, name);
}
