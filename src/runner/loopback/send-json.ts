import type {ServerResponse} from 'node:http';

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
