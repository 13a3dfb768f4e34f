import type {IncomingMessage} from 'node:http';
import {StringDecoder} from 'node:string_decoder';
import {refusal} from './classify.ts';
import type {Clock} from './clock.ts';
import type {Connection} from './connection.ts';
import type {ApiError} from './errors.ts';
import {openStream} from './http.ts';
import type {Log} from './ports.ts';
import {member, text} from './typed.ts';
import {tellWarnings} from './warnings.ts';

/** One line of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** How a watch ended. `clean` is normal; everything but `expired` goes on from the last version. */
export type WatchEnd =
  | {readonly reason: 'clean' | 'broken' | 'silent' | 'stopped' | 'unreadable'}
  /** The version is too old: list anew. */
  | {readonly reason: 'expired'}
  /** Not opened, or an ERROR line. */
  | {readonly reason: 'refused'; readonly error: ApiError};

/** One watch to follow to its end. */
export interface WatchRequest {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Log;
  readonly path: string;
  readonly name: string;
  readonly signal: AbortSignal;
  /** No byte for so long = dead (bookmarks come each 60 s). */
  readonly silenceMs: number;
  readonly opened: () => void;
  readonly event: (event: WatchEvent) => void;
}

// A connection that is opened while the server goes down may hang, and its watch hears nothing until it is opened anew.
const OPEN_TIMEOUT_MS = 10_000;
// etcd refuses objects of more than about 2 MiB; a longer line is not an event.
const MAX_LINE = 32 * 1024 * 1024;

/** The stream failed while it was read. */
class Cut extends Error {
  override readonly name = 'Cut';
}

/** Follow one watch until it ends, for whatever reason; rejects with NoReply when it could not be opened, and with what `opened` and `event` throw. */
export async function followWatch(request: WatchRequest): Promise<WatchEnd> {
  const {connection, path, name, signal} = request;
  const stream = await openStream(connection, {method: 'GET', path, signal, timeoutMs: OPEN_TIMEOUT_MS});
  const status = stream.statusCode ?? 0;
  const dog = watchdog(request, stream);
  tellWarnings(request, `WATCH ${name}`, stream.headers);
  try {
    if (status !== 200) {
      const body = await readAll(stream, dog.heard);
      return endOfError(refusal({status, text: body, headers: stream.headers}, `WATCH ${name}`));
    }
    request.opened();
    const end = await readEvents(request, stream, dog.heard);
    if (end !== undefined) return end;
    return {reason: stream.complete ? 'clean' : 'broken'};
  } catch (error) {
    // A fault of ours is not the server's: after it a 403 is no more likely to be transient than before.
    if (!(error instanceof Cut)) throw error;
    if (signal.aborted) return {reason: 'stopped'};
    if (!dog.bitten()) connection.trouble();
    return {reason: dog.bitten() ? 'silent' : 'broken'};
  } finally {
    dog.stop();
    stream.destroy();
  }
}

async function readEvents(
  request: WatchRequest,
  stream: IncomingMessage,
  heard: () => void,
): Promise<WatchEnd | undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunksOf(stream, heard)) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) return {reason: 'unreadable'};
    for (const line of lines) {
      const event = parseEvent(line);
      if (event === undefined) return {reason: 'unreadable'};
      if (event.type === 'ERROR') return errorLine(event.object, request.name);
      request.event(event);
    }
  }
  return rest === '' ? undefined : {reason: 'broken'};
}

function parseEvent(line: string): WatchEvent | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    const type = text(parsed, 'type');
    return type === '' ? undefined : {type, object: member(parsed, 'object')};
  } catch {
    return undefined;
  }
}

// The stream itself is 200: the real status is in the line.
function errorLine(object: unknown, name: string): WatchEnd {
  const code = member({object}, 'object')['code'];
  const status = typeof code === 'number' ? code : 500;
  return endOfError(refusal({status, text: JSON.stringify(object), headers: {}}, `WATCH ${name}`));
}

function endOfError(error: ApiError): WatchEnd {
  return error.kind === 'Expired' ? {reason: 'expired'} : {reason: 'refused', error};
}

// What the reader of a generator throws is not caught within it: so a Cut is a failure of the stream, and nothing else is.
async function* chunksOf(stream: IncomingMessage, heard: () => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      heard();
      yield chunk;
    }
  } catch (error) {
    throw new Cut('the stream failed', {cause: error});
  }
}

async function readAll(stream: IncomingMessage, heard: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(stream, heard)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function watchdog(request: WatchRequest, stream: IncomingMessage) {
  const {clock, silenceMs} = request;
  let last = clock.monotonic();
  let bitten = false;
  let cancel = () => {};
  // One timer that looks again, instead of one set anew for each chunk.
  const look = () => {
    const left = last + silenceMs - clock.monotonic();
    if (left > 0) {
      cancel = clock.after(left, look);
      return;
    }
    bitten = true;
    stream.destroy(new Error(`no event and no bookmark for ${silenceMs} ms`));
  };
  cancel = clock.after(silenceMs, look);
  return {
    heard() {
      last = clock.monotonic();
    },
    bitten: () => bitten,
    stop: () => cancel(),
  };
}
