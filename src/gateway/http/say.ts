import type {ServerResponse} from 'node:http';
import {EFFECT_HEADER, NO_EFFECT} from '../../api/wire/mcp.ts';
import type {Refusal} from '../../domain/refusal.ts';
import {sendJson} from '../../http/reply.ts';

/** How a path tells errors: JSON-RPC for MCP, RFC 9457 problem for REST. */
export type SayRefusal = (res: ServerResponse, refusal: Refusal, headers?: Readonly<Record<string, string>>) => void;

/** A refusal before any message was read, as JSON-RPC error without id. */
export const sayJsonRpc: SayRefusal = (res, refusal, headers) => {
  const {code, message, status} = refusal;
  const error = {code: RPC_CODES[code] ?? -32_000, message: `${code}: ${message}`, data: {code}};
  sendJson(res, status, {jsonrpc: '2.0', id: null, error}, {...challenge(refusal), ...headers});
};

/** A refusal as `application/problem+json`. */
export const sayProblem: SayRefusal = (res, refusal, headers) => {
  const {code, message, status} = refusal;
  const body = {type: 'about:blank', title: code.replaceAll('_', ' '), status, code, detail: message};
  sendJson(res, status, body, {'content-type': 'application/problem+json', ...challenge(refusal), ...headers});
};

const RPC_CODES: Readonly<Record<string, number>> = {batch_refused: -32_600, invalid_json: -32_700, internal: -32_603};

function challenge(refusal: Refusal): Record<string, string> {
  if (refusal.status === 401) return {'www-authenticate': 'Bearer realm="carrel"'};
  return refusal.status === 503 || refusal.status === 429 ? {'retry-after': '1', [EFFECT_HEADER]: NO_EFFECT} : {};
}
