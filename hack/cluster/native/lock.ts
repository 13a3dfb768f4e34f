import {mkdir, open, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {say} from '../../progress.ts';
import {waitFor} from '../wait.ts';
import {startTimeOf} from './process.ts';

/** Runs `work` while no other script works on the same cluster. A lock whose owner is gone is taken over. */
export async function withLock<T>(state: string, name: string, work: () => Promise<T>): Promise<T> {
  await mkdir(state, {recursive: true});
  const path = join(state, `${name}.lock`);
  await waitFor(`end of the script that holds ${path}`, {timeoutMs: 3_600_000, everyMs: 500}, () => acquire(path));
  try {
    return await work();
  } finally {
    await rm(path, {force: true});
  }
}

let told = false;

async function acquire(path: string): Promise<boolean> {
  const file = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    return undefined;
  });
  if (file) {
    await file.writeFile(`${process.pid} ${await startTimeOf(process.pid)}`);
    await file.close();
    return true;
  }
  const [pid, startTime] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  if (pid && startTime && (await startTimeOf(Number(pid))) !== startTime) await rm(path, {force: true});
  else if (pid && !told) say(`waiting for process ${pid}, which works on the same cluster`);
  told ||= pid !== undefined;
  return false;
}
