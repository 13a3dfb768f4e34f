/**
 * Shim protocol: between the shim in the agent's container, which dials, and the sidecar, which listens. It imports
 * nothing, so that the shim stays small.
 *
 * A frame is: length of the rest (4 bytes, big endian), type (1 byte), payload. Output and input of the process are raw
 * bytes under credit; everything else is a JSON object. What a shim sends is input from the agent, so both ends check
 * size, shape and rate, and close on the first breach.
 */

/** Raised when a frame changes its meaning; both ends refuse another version. */
export const SHIM_VERSION = 1;
/** Bytes of each stream that may be under way before the receiver grants more. */
export const STREAM_WINDOW = 262_144;
/** Most bytes of output or input in one frame. */
export const MAX_DATA = 65_536;
/** Longest frame that a sidecar accepts from a shim, and a shim from its sidecar (`start` carries files). */
export const MAX_FRAME = {fromShim: 131_072, fromSidecar: 4_194_304} as const;
/** A shim that sends more frames without data than this in a second is not one of ours; data is bounded by credit. */
export const MAX_CONTROL_PER_SECOND = 1_000;
/** Milliseconds: a ping each `every`; silent for `dead` means unresponsive. */
export const PING = {every: 5_000, dead: 15_000} as const;

/** How a process of the agent is started. `home` and `cwd` are folders that must be writable. */
export type StartSpec = {
  /** Number of this start; `started`, `startFailed` and `exited` repeat it. */
  run: number;
  argv: string[];
  env: {name: string; value: string}[];
  files: {path: string; content: string}[];
};

/** Why a process did not start. */
export const START_FAILURES = ['CommandNotFound', 'VolumeNotWritable', 'FileRefused', 'SpawnFailed'] as const;
export type StartFailure = (typeof START_FAILURES)[number];

/** A frame; `data` of the three streams is bytes. */
export type ShimFrame =
  | {type: 'hello'; version: number; nonce?: string}
  | {type: 'welcome'; version: number; nonce: string}
  | {type: 'start'; spec: StartSpec}
  | {type: 'started'; run: number; pid: number}
  | {type: 'startFailed'; run: number; reason: StartFailure; message: string}
  | {type: 'exited'; run: number; code?: number; signal?: string; outOfMemory: boolean}
  | {type: 'signal'; signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'}
  | {type: 'closeStdin'}
  | {type: 'shutdown'}
  | {type: 'terminating'}
  | {type: 'ping'; n: number}
  | {type: 'pong'; n: number}
  | {type: 'credit'; stream: StreamName; bytes: number}
  | {type: 'stdin'; data: Uint8Array}
  | {type: 'stdout'; data: Uint8Array}
  | {type: 'stderr'; data: Uint8Array};
export type StreamName = 'stdin' | 'stdout' | 'stderr';

/** A peer that broke the protocol; the connection is closed. */
export class ShimProtocolError extends Error {
  override name = 'ShimProtocolError';
}

const STREAMS = {stdin: 1, stdout: 2, stderr: 3} as const;
const CONTROL = 16;
const HEADER = 5;

/** Bytes of one frame. */
export function encodeFrame(frame: ShimFrame): Uint8Array {
  if ('data' in frame) return join(STREAMS[frame.type], frame.data);
  return join(CONTROL, new TextEncoder().encode(JSON.stringify(frame)));
}

/** The bytes before the data of a data frame: written before it, so that the data is not copied. */
export function dataHeader(stream: StreamName, length: number): Uint8Array {
  return header(STREAMS[stream], length);
}

function header(type: number, length: number): Uint8Array {
  const bytes = new Uint8Array(HEADER);
  new DataView(bytes.buffer).setUint32(0, length + 1);
  bytes[4] = type;
  return bytes;
}

function join(type: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + payload.length);
  bytes.set(header(type, payload.length));
  bytes.set(payload, HEADER);
  return bytes;
}

/** Cuts a byte stream into frames; `maxFrame` bounds what is ever kept. Data frames are views or copies of the input. */
export class FrameDecoder {
  private kept: Uint8Array = new Uint8Array(0);
  private readonly maxFrame: number;

  constructor(maxFrame: number) {
    this.maxFrame = maxFrame;
  }

  /** The frames that are complete after `chunk`; throws `ShimProtocolError` on the first bad one. */
  push(chunk: Uint8Array): ShimFrame[] {
    // A Buffer's slice would be a view that keeps the whole chunk alive.
    let bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.kept.length > 0) {
      bytes = new Uint8Array(this.kept.length + chunk.length);
      bytes.set(this.kept);
      bytes.set(chunk, this.kept.length);
    }
    const frames: ShimFrame[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0);
      if (length < 1 || length > this.maxFrame) {
        throw new ShimProtocolError(`frame of ${length} bytes; 1 to ${this.maxFrame} are allowed`);
      }
      if (bytes.length - at < 4 + length) break;
      frames.push(decode(bytes[at + 4] ?? 0, bytes.slice(at + HEADER, at + 4 + length)));
      at += 4 + length;
    }
    this.kept = bytes.slice(at);
    return frames;
  }
}

function decode(type: number, payload: Uint8Array): ShimFrame {
  if (type === CONTROL) return parseControl(payload);
  if (payload.length > MAX_DATA)
    throw new ShimProtocolError(`${payload.length} bytes of data; ${MAX_DATA} are allowed`);
  if (type === STREAMS.stdin) return {type: 'stdin', data: payload};
  if (type === STREAMS.stdout) return {type: 'stdout', data: payload};
  if (type === STREAMS.stderr) return {type: 'stderr', data: payload};
  throw new ShimProtocolError(`unknown frame type ${type}`);
}

function parseControl(payload: Uint8Array): ShimFrame {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(payload));
  } catch {
    throw new ShimProtocolError('control frame is not JSON');
  }
  const read = new Reader(body);
  switch (read.text('type', 16)) {
    case 'hello':
      return read.has('nonce')
        ? {type: 'hello', version: read.count('version'), nonce: read.text('nonce', 128)}
        : {type: 'hello', version: read.count('version')};
    case 'welcome':
      return {type: 'welcome', version: read.count('version'), nonce: read.text('nonce', 128)};
    case 'start':
      return {type: 'start', spec: parseSpec(new Reader(read.value('spec')))};
    case 'started':
      return {type: 'started', run: read.count('run'), pid: read.count('pid')};
    case 'startFailed':
      return {
        type: 'startFailed',
        run: read.count('run'),
        reason: read.oneOf('reason', START_FAILURES),
        message: read.text('message', 4096),
      };
    case 'exited':
      return {
        type: 'exited',
        run: read.count('run'),
        ...(read.has('code') ? {code: read.count('code')} : {}),
        ...(read.has('signal') ? {signal: read.text('signal', 16)} : {}),
        outOfMemory: read.value('outOfMemory') === true,
      };
    case 'signal':
      return {type: 'signal', signal: read.oneOf('signal', ['SIGTERM', 'SIGKILL', 'SIGINT'])};
    case 'ping':
      return {type: 'ping', n: read.count('n')};
    case 'pong':
      return {type: 'pong', n: read.count('n')};
    case 'credit':
      return {type: 'credit', stream: read.oneOf('stream', ['stdin', 'stdout', 'stderr']), bytes: read.count('bytes')};
    case 'closeStdin':
      return {type: 'closeStdin'};
    case 'shutdown':
      return {type: 'shutdown'};
    case 'terminating':
      return {type: 'terminating'};
    default:
      throw new ShimProtocolError('unknown control frame');
  }
}

function parseSpec(read: Reader): StartSpec {
  return {
    run: read.count('run'),
    argv: read.list('argv', 4096).map((item) => textOf(item, 'argv', 131_072)),
    env: read.list('env', 4096).map((item) => {
      const entry = new Reader(item);
      return {name: entry.text('name', 1024), value: entry.text('value', 131_072)};
    }),
    files: read.list('files', 256).map((item) => {
      const entry = new Reader(item);
      return {path: entry.text('path', 4096), content: entry.text('content', 1_048_576)};
    }),
  };
}

function textOf(value: unknown, name: string, max: number): string {
  if (typeof value === 'string' && value.length <= max) return value;
  throw new ShimProtocolError(`${name} must be a text of at most ${max} characters`);
}

/** Reads checked fields from a control frame. */
class Reader {
  private readonly body: object;

  constructor(body: unknown) {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ShimProtocolError('control frame is not an object');
    }
    this.body = body;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.body, name);
  }

  value(name: string): unknown {
    return this.has(name) ? Reflect.get(this.body, name) : undefined;
  }

  text(name: string, max: number): string {
    return textOf(this.value(name), name, max);
  }

  count(name: string): number {
    const value = this.value(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new ShimProtocolError(`${name} must be a whole number`);
  }

  list(name: string, max: number): unknown[] {
    const value: unknown = this.value(name);
    if (Array.isArray(value) && value.length <= max) return value;
    throw new ShimProtocolError(`${name} must be a list of at most ${max} items`);
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.value(name);
    const found = allowed.find((item) => item === value);
    if (found !== undefined) return found;
    throw new ShimProtocolError(`${name} must be one of ${allowed.join(', ')}`);
  }
}
