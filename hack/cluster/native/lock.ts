import {link, mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {say} from '../../progress.ts';
import {startTimeOf} from './process.ts';

const LONGEST_WORK_MS = 3_600_000;

/** Runs `work` while no other script works on the same cluster. A lock whose owner is gone is taken over. */
export async function withLock<T>(state: string, name: string, work: () => Promise<T>): Promise<T> {
  await mkdir(state, {recursive: true});
  const path = join(state, `${name}.lock`);
  const end = Date.now() + LONGEST_WORK_MS;
  while (!(await acquire(path))) {
    if (Date.now() > end)
      throw new Error(`${path} is held for more than an hour: end the process that it names, or remove it`);
    await delay(500);
  }
  try {
    return await work();
  } finally {
    await rm(path, {force: true});
  }
}

let told = false;

async function acquire(path: string): Promise<boolean> {
  // Written first and linked then: a lock is never there without its owner's name.
  const own = `${path}.${process.pid}`;
  await writeFile(own, `${process.pid} ${await startTimeOf(process.pid)}`);
  const linked = await link(own, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  await rm(own);
  if (linked) return true;
  const [pid, startTime] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  if (pid && startTime && (await startTimeOf(Number(pid))) !== startTime) await rm(path, {force: true});
  else if (pid && !told) say(`waiting for process ${pid}, which works on the same cluster`);
  told ||= pid !== undefined;
  return false;
}
