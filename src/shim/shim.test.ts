import {mkdtempSync, rmSync} from 'node:fs';
import {createServer, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, type MockInstance, test, vi} from 'vitest';
import {encodeFrame, FrameDecoder, MAX_FRAME, type ShimFrame} from '../api/wire/shim.ts';
import type {ShimPlace} from './process.ts';
import {Shim} from './shim.ts';

let folder: string;
let place: ShimPlace;
let server: Server;
let frames: ShimFrame[];
let runner: Socket;
let shim: Shim;
let ended: Promise<void>;
let kill: MockInstance<typeof process.kill>;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-term-'));
  frames = [];
  kill = vi.spyOn(process, 'kill');
  // Time stands still, but for what a test lets pass: what ends before, ended by itself.
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
  const socket = path.join(folder, 's');
  const dialled = Promise.withResolvers<Socket>();
  server = createServer((connection) => dialled.resolve(connection));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  place = {home: folder, workspace: folder, environment: {PATH: '/usr/bin:/bin'}, init: '/no/init'};
  shim = new Shim(socket, place);
  ended = shim.run();
  runner = await dialled.promise;
  const decoder = new FrameDecoder(MAX_FRAME.fromShim);
  runner.on('data', (chunk: Uint8Array) => frames.push(...decoder.push(chunk)));
  runner.on('error', () => {});
});
afterEach(async () => {
  runner.write(encodeFrame({type: 'shutdown'}));
  await ended;
  runner.destroy();
  server.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, {recursive: true});
});

/** Waits without a timer, for they stand still. */
async function seen<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise(setImmediate);
  }
}

const frame = <T extends ShimFrame['type']>(type: T) =>
  seen(() => frames.find((one): one is Extract<ShimFrame, {type: T}> => one.type === type));
const output = () => frames.map((one) => (one.type === 'stdout' ? Buffer.from(one.data).toString() : '')).join('');

/** Runs a script of the shell as the agent, until it said `up`; its process id. */
async function agent(script: string): Promise<number> {
  runner.write(encodeFrame({type: 'start', spec: {run: 1, argv: ['/bin/sh', '-c', script], env: [], files: []}}));
  await seen(() => output().includes('up\n') || undefined);
  return (await frame('started')).pid;
}

describe('TERM of the container', () => {
  test('while the shim dials: it ends, and does not stay with a runner that can start nothing', async () => {
    const other = new Shim(path.join(folder, 's'), place);
    const over = other.run();
    await other.terminate();
    await over;
  });

  test('an agent that ends by it is given the time, and the container ends with it', async () => {
    const pid = await agent('trap "echo bye; exit 3" TERM; tail -f /dev/null & echo up; wait');
    void shim.terminate();
    expect(await frame('exited')).toEqual({type: 'exited', run: 1, code: 3, outOfMemory: false});
    await ended;
    expect(output()).toBe('up\nbye\n');
    expect(frames.map((one) => one.type).filter((type) => type !== 'stdout')).toEqual([
      'hello',
      'started',
      'terminating',
      'exited',
    ]);
    expect(kill.mock.calls[0]).toEqual([-pid, 'SIGTERM']);
  });

  test('one that ignores it is killed after 15 s, with its whole group', async () => {
    const deaf = '(trap "" TERM; exec tail -f /dev/null)';
    const pid = await agent(`trap "echo no" TERM; ${deaf} & echo up; while :; do wait; done`);
    void shim.terminate();
    await seen(() => output().includes('no\n') || undefined);
    vi.advanceTimersByTime(14_999);
    expect(kill.mock.calls).toEqual([[-pid, 'SIGTERM']]);
    vi.advanceTimersByTime(1);
    expect(kill.mock.calls.slice(0, 2)).toEqual([
      [-pid, 'SIGTERM'],
      [-pid, 'SIGKILL'],
    ]);
    // It is told when nobody holds the output any more, so the deaf child is gone too.
    expect(await frame('exited')).toEqual({type: 'exited', run: 1, signal: 'SIGKILL', outOfMemory: false});
    await ended;
  });

  test('without an agent it ends at once', async () => {
    await frame('hello');
    void shim.terminate();
    await ended;
    expect(frames.map((one) => one.type)).toEqual(['hello', 'terminating']);
    expect(kill).not.toHaveBeenCalled();
  });
});
