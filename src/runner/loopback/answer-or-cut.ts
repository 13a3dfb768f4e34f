import type {ServerResponse} from 'node:http';

/**
 * Answers the agent with JSON text, and closes the connection after a refusal: the rest of the request is not wanted.
 * A reply that has begun is cut, so that half of one is not taken for a whole.
 */
export function answerOrCut(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  const close = status >= 400 ? {connection: 'close'} : {};
  response.writeHead(status, {'content-type': 'application/json', 'cache-control': 'no-store', ...close});
  response.end(text);
}
