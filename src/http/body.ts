import type {IncomingMessage} from 'node:http';

/** The body is larger than allowed; answer 413. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Read a whole body of at most `maxBytes`. A larger one is refused at its announced length, before anything is buffered. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.destroyed) throw endedEarly();
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // By events: an iterator of a stream costs more than all the rest of a small request.
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      // The rest is dropped as it comes, until the client ends or the server's time limit for requests does.
      else reject(tooLarge(maxBytes));
    });
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.once('error', reject);
    request.once('close', () => {
      if (!request.readableEnded) reject(endedEarly());
    });
  });
}

/** Parse JSON of a body; undefined when it is none. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function endedEarly(): Error {
  return new Error('the body ended too early');
}

function tooLarge(maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`the body may hold at most ${maxBytes} bytes`);
}
