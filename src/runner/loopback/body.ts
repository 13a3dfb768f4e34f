import type {IncomingMessage, ServerResponse} from 'node:http';

/** The body is longer than allowed. */
export class BodyTooLarge extends Error {}

/** Reads a body of at most `limit` bytes; throws `BodyTooLarge` as soon as more is announced or comes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Not destroyed on the way out: that would close the socket before the refusal is on it.
  for await (const chunk of request.iterator({destroyOnReturn: false})) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit) throw new BodyTooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Sends JSON text and ends the reply; does nothing when the client has gone. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  // After a refusal the rest of the request is not wanted: close instead of reading it.
  const close = status >= 400 ? {connection: 'close'} : {};
  response.writeHead(status, {'content-type': 'application/json', 'cache-control': 'no-store', ...close});
  response.end(text);
}
