import {spawn} from 'node:child_process';
import {setTimeout as delay} from 'node:timers/promises';
import type {Handler} from './instructions.ts';

const numberOf = (argument: string, otherwise: number) => {
  const value = Number(argument.split(' ')[0]);
  return argument !== '' && Number.isFinite(value) ? value : otherwise;
};

/** `stall SECONDS`: does nothing for so long; a cancel ends it. */
export const stall: Handler = async (argument, turn) => {
  const seconds = numberOf(argument, 60);
  await delay(seconds * 1000, undefined, {signal: turn.ports.signal});
  await turn.say(`waited ${seconds} s\n`);
};

/** `deaf SECONDS`: does nothing for so long and does not hear a cancel. */
export const deaf: Handler = async (argument) => {
  await delay(numberOf(argument, 60) * 1000);
};

/** `flood BYTES`: says so many bytes, in lines. */
export const flood: Handler = async (argument, turn) => {
  const line = `${'flood '.repeat(170)}\n`;
  let left = numberOf(argument, 1 << 20);
  while (left > 0 && !turn.ports.signal.aborted) {
    await turn.say(line.slice(0, left));
    left -= line.length;
  }
};

/** `fork N`: leaves so many children running in the background. */
export const fork: Handler = async (argument, turn) => {
  const pids = Array.from({length: numberOf(argument, 1)}, () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1 << 30)'], {stdio: 'ignore'});
    child.unref();
    return child.pid;
  });
  await turn.say(`children: ${pids.join(' ')}\n`);
};

/** `crash CODE`: exits with that code in the middle of the turn. */
export const crash: Handler = async (argument) => {
  process.exit(numberOf(argument, 1));
};

/** `kill`: ends itself by SIGKILL. */
export const kill: Handler = async () => {
  process.kill(process.pid, 'SIGKILL');
  await delay(10_000);
};

/** `oom MEGABYTES`: takes so much memory and keeps it. */
export const oom: Handler = async (argument, turn) => {
  const megabytes = numberOf(argument, 4096);
  const kept: Buffer[] = [];
  // Random-looking content: zero pages might not be backed by memory at all.
  for (let taken = 0; taken < megabytes; taken += 16) {
    kept.push(Buffer.alloc(16 << 20, `page ${taken}`));
    await delay(1);
  }
  await turn.say(`holds ${kept.length * 16} MB\n`);
};

/** `env`: the names in the environment; `env NAME`: the value of one. */
export const env: Handler = async (name, turn) => {
  const all = turn.ports.env;
  await turn.say(name === '' ? `env: ${Object.keys(all).sort().join(' ')}\n` : `${name}=${all[name] ?? ''}\n`);
};

/** `fetch URL`: gets a page, through HTTPS_PROXY where it is set, and says its status and beginning. */
export const fetchPage: Handler = async (url, turn) => {
  const text = await turn.call(`fetch ${url}`, {url}, async () => {
    const signal = AbortSignal.any([turn.ports.signal, AbortSignal.timeout(15_000)]);
    try {
      const reply = await fetch(url, {signal});
      return `${reply.status} ${(await reply.text()).slice(0, 200)}`;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
      return `failed: ${String(error)}${cause}`;
    }
  });
  await turn.say(`fetch: ${text}\n`);
};
