import type {IncomingMessage} from 'node:http';

/** The body is larger than allowed; answer 413. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Read a whole body of at most `maxBytes`. A larger one is refused at its announced length, before anything is buffered. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  // Not destroyed on the way out: that would close the socket before the refusal is on it.
  for await (const chunk of request.iterator({destroyOnReturn: false})) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) break;
    chunks.push(bytes);
  }
  if (size > maxBytes) {
    // The rest is dropped as it comes, until the client ends or the server's time limit for requests does.
    request.resume();
    throw tooLarge(maxBytes);
  }
  return Buffer.concat(chunks);
}

/** Parse JSON of a body; undefined when it is none. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function tooLarge(maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`the body may hold at most ${maxBytes} bytes`);
}
