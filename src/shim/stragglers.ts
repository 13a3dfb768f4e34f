import {readdirSync, readFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';

/** Milliseconds between two looks, and until what is left is given up: what hangs in the kernel dies when that lets go of it. */
const LOOK = 20;
const LIMIT = 2_000;

/**
 * Kills every process of this container but init and this one: what left the agent's process group (`setsid`) would live on
 * into the next start. Does nothing unless our own init started this process, for only then is it alone with the agent in a
 * PID namespace.
 */
export async function killStragglers(init: string): Promise<void> {
  if (process.ppid !== 1 || !isInit(init)) return;
  for (const until = performance.now() + LIMIT; performance.now() < until; ) {
    try {
      // All at once, as only the kernel can: one after the other, a process that forks all the time would outrun us. It leaves
      // out init and the caller.
      process.kill(-1, 'SIGKILL');
    } catch {
      // There is none.
    }
    if (!othersLive()) return;
    await delay(LOOK);
  }
}

function isInit(path: string): boolean {
  try {
    return readFileSync('/proc/1/cmdline', 'utf8').split('\0')[0] === path;
  } catch {
    return false;
  }
}

function othersLive(): boolean {
  try {
    const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return names.some((name) => ![1, process.pid].includes(Number(name)) && lives(name));
  } catch {
    return true; // too many open files: another look, until the time is up
  }
}

/** The dead wait for init to reap them. */
function lives(pid: string): boolean {
  try {
    // A process may have put anything into its name, parentheses too.
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
