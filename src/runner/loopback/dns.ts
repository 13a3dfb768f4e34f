import {createSocket, type Socket} from 'node:dgram';
import {createServer, type Server} from 'node:net';
import type {Log} from './ports.ts';

const HEADER = 12;
const NAME_ERROR = 3;
/** Longest question that is answered: a name has at most 255 bytes. */
const MAX_QUERY = 512;
/** Milliseconds a TCP client may stay silent. */
const IDLE_TIMEOUT = 5_000;
/** Bytes of answers that a TCP client may leave unread. */
const MAX_UNREAD = 65_536;

/** Makes the answer "no such name" to a query; undefined for what is none. */
export function answerNoSuchName(query: Buffer): Buffer | undefined {
  if (query.length < HEADER + 5 || query.length > MAX_QUERY) return undefined;
  const flags = query.readUInt16BE(2);
  // An answer is never answered, or two answerers could talk for ever.
  if ((flags & 0x8000) !== 0 || query.readUInt16BE(4) !== 1) return undefined;
  const end = endOfQuestion(query);
  if (end === undefined) return undefined;
  const answer = Buffer.from(query.subarray(0, end));
  // Response, with the opcode and the wish for recursion of the query, recursion available.
  answer.writeUInt16BE(0x8080 | (flags & 0x7900) | NAME_ERROR, 2);
  answer.fill(0, 6, HEADER);
  return answer;
}

function endOfQuestion(query: Buffer): number | undefined {
  let at = HEADER;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > 63) return undefined;
    at += 1 + length;
    if (length === 0) break;
  }
  return at + 4 <= query.length ? at + 4 : undefined;
}

/** The running answerer. */
export interface NameAnswerer {
  port: number;
  close(): Promise<void>;
}

/**
 * Answers every look-up at once with "no such name", over UDP and TCP: names leak nowhere, nothing stalls. Names are
 * neither passed on nor logged. Where the port cannot be bound the session goes on without.
 */
export async function startNameAnswerer(port: number, log: Log): Promise<NameAnswerer | undefined> {
  try {
    const udp = await bindUdp(port);
    try {
      const tcp = await bindTcp(udp.address().port);
      return {port: udp.address().port, close: () => closeBoth(udp, tcp)};
    } catch (error) {
      udp.close();
      throw error;
    }
  } catch (error) {
    log.warn({port, error: String(error)}, 'the name answerer could not be bound; look-ups in the pod may be slow');
    return undefined;
  }
}

async function bindUdp(port: number): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const answer = answerNoSuchName(query);
    if (answer) socket.send(answer, from.port, from.address, () => {});
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({address: '127.0.0.1', port, exclusive: true}, resolve);
  });
  socket.removeAllListeners('error');
  socket.on('error', () => {});
  return socket;
}

async function bindTcp(port: number): Promise<Server> {
  const server = createServer((socket) => {
    let held: Buffer = Buffer.alloc(0);
    socket.setTimeout(IDLE_TIMEOUT, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 2) {
        const length = held.readUInt16BE(0);
        if (length > MAX_QUERY) return void socket.destroy();
        if (held.length < 2 + length) return;
        const answer = answerNoSuchName(held.subarray(2, 2 + length));
        if (!answer) return void socket.destroy();
        held = held.subarray(2 + length);
        const size = Buffer.alloc(2);
        size.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([size, answer]));
        if (socket.writableLength > MAX_UNREAD) return void socket.destroy();
      }
    });
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({host: '127.0.0.1', port, exclusive: true}, resolve);
  });
  return server;
}

async function closeBoth(udp: Socket, tcp: Server): Promise<void> {
  await Promise.all([
    new Promise<void>((resolve) => udp.close(resolve)),
    new Promise<void>((resolve) => tcp.close(() => resolve())),
  ]);
}
