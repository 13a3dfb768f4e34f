import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {connect, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {eventually} from '../../test/support/eventually.ts';
import {
  encodeFrame,
  FrameDecoder,
  MAX_CONTROL_PER_SECOND,
  MAX_FRAME,
  type ShimFrame,
  STREAM_WINDOW,
} from '../api/wire/shim.ts';
import {ShimLink} from './shim-link.ts';

const silent = {debug() {}, info() {}, warn() {}, error() {}};
let folder: string;
let link: ShimLink;
let nonce: string | undefined;
const lost: string[] = [];
let terminating = 0;
let connected = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-link-'));
  nonce = undefined;
  lost.length = 0;
  terminating = 0;
  connected = 0;
  link = new ShimLink({
    log: silent,
    nonces: {get: () => nonce, set: (value) => (nonce = value)},
    events: {connected: () => (connected += 1), terminating: () => (terminating += 1), lost: (why) => lost.push(why)},
  });
  await link.listen(path.join(folder, 's'));
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  link.close();
  rmSync(folder, {recursive: true});
});

/** A shim that may misbehave. */
class Peer {
  readonly frames: ShimFrame[] = [];
  closed = false;
  private readonly socket: Socket;

  constructor() {
    const decoder = new FrameDecoder(MAX_FRAME.fromSidecar);
    this.socket = connect(path.join(folder, 's'));
    this.socket.on('data', (chunk: Uint8Array) => this.frames.push(...decoder.push(chunk)));
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
    sockets.push(this.socket);
  }

  send(...frames: ShimFrame[]): void {
    this.socket.write(Buffer.concat(frames.map(encodeFrame)));
  }

  async ready(hello: ShimFrame = {type: 'hello', version: 1}): Promise<this> {
    this.send(hello);
    await eventually(() => expect(this.frames.some((f) => f.type === 'ping')).toBe(true));
    this.send({type: 'pong', n: 1});
    await eventually(() => expect(link.connected).toBe(true));
    return this;
  }
}

const spec = {argv: ['agent'], env: [], files: []};

describe('the runner against what dials its socket', () => {
  test('every user of the pod may dial it', () => {
    expect(statSync(path.join(folder, 's')).mode & 0o777).toBe(0o777);
  });

  test('a second connection is closed unread while one lives', async () => {
    await new Peer().ready();
    const second = new Peer();
    await eventually(() => expect(second.closed).toBe(true));
    expect(second.frames).toEqual([]);
    expect(link.connected).toBe(true);
  });

  test('a reconnect needs the nonce of the first handshake', async () => {
    const first = await new Peer().ready();
    const welcome = first.frames.find((f) => f.type === 'welcome');
    expect(welcome).toMatchObject({nonce});
    link.cut();
    await eventually(() => expect(first.closed).toBe(true));
    const stranger = new Peer();
    stranger.send({type: 'hello', version: 1});
    await eventually(() => expect(stranger.closed).toBe(true));
    expect(link.connected).toBe(false);
    await new Peer().ready({type: 'hello', version: 1, nonce: nonce ?? ''});
  });

  test('a shim that comes after the shutdown is told to end, and nothing is started there', async () => {
    link.shutdown();
    const late = new Peer();
    late.send({type: 'hello', version: 1});
    await eventually(() => expect(late.frames.some((f) => f.type === 'ping')).toBe(true));
    late.send({type: 'pong', n: 1});
    await eventually(() => expect(late.frames.at(-1)).toEqual({type: 'shutdown'}));
    expect(link.connected).toBe(false);
    expect(connected).toBe(0);
  });

  test('a runner that ends before any shim was welcomed ends the one that comes', async () => {
    link.shutdownUnmet();
    const late = new Peer();
    late.send({type: 'hello', version: 1});
    await eventually(() => expect(late.frames.some((f) => f.type === 'ping')).toBe(true));
    late.send({type: 'pong', n: 1});
    await eventually(() => expect(late.frames.at(-1)).toEqual({type: 'shutdown'}));
  });

  test('a runner that ends while its shim connects again does not end that: the next runner has it', async () => {
    const first = await new Peer().ready();
    link.cut();
    await eventually(() => expect(first.closed).toBe(true));
    link.shutdownUnmet();
    const again = await new Peer().ready({type: 'hello', version: 1, nonce: nonce ?? ''});
    expect(again.frames.map((f) => f.type)).toEqual(['welcome', 'ping']);
  });

  test('a shim that was cut off before it heard the welcome may come again without a nonce', async () => {
    const first = new Peer();
    first.send({type: 'hello', version: 1});
    await eventually(() => expect(first.frames.length).toBeGreaterThan(0));
    link.cut();
    await eventually(() => expect(first.closed).toBe(true));
    await new Peer().ready();
  });

  describe('silence', () => {
    // Time stands still, but for what a test lets pass.
    beforeEach(() => void vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'performance']}));
    afterEach(() => void vi.useRealTimers());

    test('of 15 s is told as such; of less it is not', async () => {
      const peer = await shake();
      vi.advanceTimersByTime(15_000);
      expect(lost).toEqual([]);
      vi.advanceTimersByTime(5_000);
      expect(lost).toEqual(['silent']);
      await seen(() => peer.closed);
      expect(link.connected).toBe(false);
    });

    test('is ended by any frame: one that says something each 15 s is kept', async () => {
      const peer = await shake();
      for (let n = 1; n <= 8; n += 1) {
        vi.advanceTimersByTime(15_000);
        peer.send({type: 'terminating'});
        await seen(() => terminating === n);
      }
      expect(lost).toEqual([]);
      // One at the handshake, then one each 5 s.
      await seen(() => peer.frames.filter((f) => f.type === 'ping').length === 1 + 8 * 3);
    });

    async function shake(): Promise<Peer> {
      const peer = new Peer();
      peer.send({type: 'hello', version: 1});
      await seen(() => peer.frames.some((f) => f.type === 'ping'));
      peer.send({type: 'pong', n: 1});
      await seen(() => link.connected);
      return peer;
    }

    /** Waits without the clock. */
    async function seen(look: () => boolean): Promise<void> {
      while (!look()) await new Promise(setImmediate);
    }
  });

  test.each<[string, ShimFrame[]]>([
    ['another version', [{type: 'hello', version: 2}]],
    ['output before hello', [{type: 'stdout', data: new Uint8Array(1)}]],
  ])('closes on %s', async (_name, frames) => {
    const peer = new Peer();
    peer.send(...frames);
    await eventually(() => expect(peer.closed).toBe(true));
  });

  test.each<[string, ShimFrame[]]>([
    ['an exit of a process that was never started', [{type: 'exited', run: 1, outOfMemory: false}]],
    ['a frame that only the runner sends', [{type: 'start', spec: {...spec, run: 1}}]],
    ['a flood of frames', Array.from({length: 5 * MAX_CONTROL_PER_SECOND}, () => ({type: 'pong', n: 1}) as const)],
  ])('closes on %s', async (_name, frames) => {
    const peer = await new Peer().ready();
    peer.send(...frames);
    await eventually(() => expect(peer.closed).toBe(true));
    expect(lost).toEqual(['protocol']);
  });

  test.each<[string, ShimFrame[]]>([
    ['an exit before the start', [{type: 'exited', run: 1, outOfMemory: false}]],
    ['a start of another run', [{type: 'started', run: 7, pid: 1}]],
    [
      'two starts',
      [
        {type: 'started', run: 1, pid: 1},
        {type: 'started', run: 1, pid: 1},
      ],
    ],
    [
      'more output than was granted',
      Array.from({length: STREAM_WINDOW / 65_536 + 1}, () => ({type: 'stdout', data: new Uint8Array(65_536)}) as const),
    ],
    [
      'output after the exit',
      [
        {type: 'started', run: 1, pid: 1},
        {type: 'exited', run: 1, outOfMemory: false},
        {type: 'stdout', data: new Uint8Array(1)},
      ],
    ],
  ])('closes on %s, and the process counts as ended', async (_name, frames) => {
    const peer = await new Peer().ready();
    const started = link.start(spec).catch(() => undefined);
    await eventually(() => expect(peer.frames.some((f) => f.type === 'start')).toBe(true));
    peer.send(...frames);
    await eventually(() => expect(peer.closed).toBe(true));
    await (await started)?.exited;
  });

  test('output that nobody reads is not granted again; once read it is', async () => {
    const peer = await new Peer().ready();
    const started = link.start(spec);
    await eventually(() => expect(peer.frames.some((f) => f.type === 'start')).toBe(true));
    const data = new Uint8Array(65_536);
    peer.send({type: 'started', run: 1, pid: 1}, ...Array.from({length: 4}, () => ({type: 'stdout', data}) as const));
    const reader = (await started).stdout.getReader();
    expect(peer.frames.some((f) => f.type === 'credit')).toBe(false);
    for (let n = 0; n < 4; n += 1) await reader.read();
    await eventually(() => {
      const granted = peer.frames.reduce((sum, f) => sum + (f.type === 'credit' ? f.bytes : 0), 0);
      expect(granted).toBe(STREAM_WINDOW);
    });
  });
});
