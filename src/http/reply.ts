import type {IncomingMessage, ServerResponse} from 'node:http';

// Who was not served tries again, and over another connection that may come to another replica.
const NOT_HERE: Readonly<Record<string, string>> = {connection: 'close'};

/** Answer with JSON; does nothing when an answer has begun already. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(status === 503 ? NOT_HERE : {}),
    ...headers,
  });
  response.end(text);
}

/** The token of an `Authorization: Bearer` header, or undefined when there is not exactly one, or a key beside it. */
export function bearerOf(request: IncomingMessage): string | undefined {
  if (request.headersDistinct['x-api-key'] !== undefined) return undefined;
  const values = request.headersDistinct['authorization'] ?? [];
  const match = /^Bearer ([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(values[0] ?? '');
  return values.length === 1 ? match?.[1] : undefined;
}
