import type {ServerResponse} from 'node:http';
import type {Refusal} from '../../domain/refusal.ts';

/** Answer with JSON; does nothing when the answer has begun already. */
export function sendJson(res: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {'content-type': 'application/json', 'content-length': String(bytes.length), ...NEVER_CACHED, ...headers});
  res.end(bytes);
}

/** How a path tells errors: JSON-RPC for MCP, RFC 9457 problem for REST. */
export type SayRefusal = (res: ServerResponse, refusal: Refusal, headers?: Readonly<Record<string, string>>) => void;

/** A refusal before any message was read, as JSON-RPC error without id. */
export const sayJsonRpc: SayRefusal = (res, refusal, headers) => {
  const error = {code: RPC_CODES[refusal.code] ?? -32_000, message: `${refusal.code}: ${refusal.message}`, data: {code: refusal.code}};
  sendJson(res, refusal.status, {jsonrpc: '2.0', id: null, error}, {...challenge(refusal), ...headers});
};

/** A refusal as `application/problem+json`. */
export const sayProblem: SayRefusal = (res, refusal, headers) => {
  const {code, message, status} = refusal;
  const body = {type: 'about:blank', title: code.replaceAll('_', ' '), status, code, detail: message};
  sendJson(res, status, body, {'content-type': 'application/problem+json', ...challenge(refusal), ...headers});
};

const NEVER_CACHED = {'cache-control': 'no-store', 'x-content-type-options': 'nosniff'} as const;

const RPC_CODES: Readonly<Record<string, number>> = {batch_refused: -32_600, invalid_json: -32_700, internal: -32_603};

function challenge(refusal: Refusal): Record<string, string> {
  if (refusal.status === 401) return {'www-authenticate': 'Bearer realm="carrel"'};
  return refusal.status === 503 ? {'retry-after': '1'} : {};
}
