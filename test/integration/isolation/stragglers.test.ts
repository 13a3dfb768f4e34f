import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {ShimLink} from '../../../src/runner/shim-link.ts';
import {keptLog} from '../../support/loopback.ts';

let folder: string;
let marker: string;
let init: string;
let link: ShimLink;
let connected: Promise<void>;
let shim: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-stragglers-'));
  for (const name of ['workspace', 'home']) mkdirSync(join(folder, name));
  marker = join(folder, 'marker');
  writeFileSync(marker, '');
  // A path that no init of a machine has: only below it may anything be swept.
  init = join(folder, 'tini');
  copyFileSync('/usr/bin/tini-static', init);
  const up = Promise.withResolvers<void>();
  connected = up.promise;
  link = new ShimLink({
    log: keptLog(),
    nonces: {get: () => undefined, set() {}},
    events: {connected: () => up.resolve(), lost() {}, terminating() {}},
  });
  await link.listen(join(folder, 'shim.sock'));
});

afterEach(async () => {
  link.shutdown();
  if (shim?.exitCode === null && shim.signalCode === null) {
    shim.kill('SIGKILL');
    await once(shim, 'exit');
  }
  for (const pid of marked()) process.kill(pid, 'SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});

/** Processes of the machine, in any namespace, that follow the marker of this test: `setsid` is done when `tail` runs. */
function marked(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `tail\0-f\0${marker}\0`;
      } catch {
        return false;
      }
    });
}

/** The shim on this machine, or as in a container: under its init, in a PID namespace of its own. */
function startShim(contained: boolean): void {
  const program = [process.execPath, fileURLToPath(new URL('../../../src/bin/shim.ts', import.meta.url))];
  const around = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', init, '--'];
  const [file = '', ...args] = contained ? [...around, ...program] : program;
  const env = {
    PATH: process.env['PATH'],
    CARREL_SHIM_SOCKET: join(folder, 'shim.sock'),
    CARREL_SHIM_WORKSPACE: join(folder, 'workspace'),
    CARREL_SHIM_HOME: join(folder, 'home'),
    CARREL_SHIM_INIT: init,
  };
  shim = spawn(file, args, {env, stdio: 'inherit'});
}

const startAgent = (script: string) => link.start({argv: ['/bin/sh', '-c', script], env: [], files: []});

/** Three kinds of children that leave the group: one that waits, one that hears no TERM, one that forks all the time. */
const ESCAPING = () => `
  setsid tail -f ${marker} &
  setsid sh -c 'trap "" TERM HUP INT; tail -f ${marker} & wait' &
  setsid sh -c 'while :; do (setsid tail -f ${marker} &); sleep 0.02; done' &
  exec tail -f /dev/null`;

describe('processes of the agent that left its group', () => {
  it('end with it, before its end is told; shim and init live on for the next start', async () => {
    startShim(true);
    await connected;
    for (const _ of [1, 2]) {
      const agent = await startAgent(ESCAPING());
      await expect.poll(() => marked().length, {timeout: 30_000}).toBeGreaterThan(5);
      agent.signal('SIGKILL');
      expect(await agent.exited).toMatchObject({signal: 'SIGKILL'});
      expect(marked()).toEqual([]);
    }
  });

  it('end too when the agent ends by itself, or its connection is lost', async () => {
    startShim(true);
    await connected;
    const agent = await startAgent(`setsid tail -f ${marker} & exit 3`);
    expect(await agent.exited).toMatchObject({code: 3});
    expect(marked()).toEqual([]);
    await startAgent(ESCAPING());
    await expect.poll(() => marked().length, {timeout: 30_000}).toBeGreaterThan(5);
    link.cut();
    await expect.poll(marked, {timeout: 30_000}).toEqual([]);
  });

  it('are left alone where the shim is not alone with the agent: on a machine it would kill everything', async () => {
    startShim(false);
    await connected;
    const agent = await startAgent(`setsid tail -f ${marker} & exec tail -f /dev/null`);
    await expect.poll(() => marked().length, {timeout: 30_000}).toBe(1);
    agent.signal('SIGKILL');
    await agent.exited;
    expect(marked()).toHaveLength(1);
  });
});
