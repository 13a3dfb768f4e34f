import type {IncomingMessage} from 'node:http';
import {isIP} from 'node:net';
import {Refusal} from '../../domain/refusal.ts';

/** Which Host and Origin headers pass. */
export interface Allowlists {
  /** Host names without port, lower case. Literal addresses always pass: rebinding needs a name. */
  readonly hosts: readonly string[];
  /** Whole origins, such as `https://carrel.example`. */
  readonly origins: readonly string[];
}

/** Refuse requests that a page in somebody's browser could make: a foreign Host, a foreign Origin, or `Origin: null`. */
export function checkOrigin(req: IncomingMessage, {hosts, origins}: Allowlists): void {
  const host = hostName(req.headers.host);
  if (host === undefined || (isIP(host) === 0 && !hosts.includes(host))) {
    throw new Refusal(
      'host_not_allowed',
      `Host "${host ?? ''}" is not on the allowlist; add it to gateway.allowedHosts.`,
    );
  }
  const origin = req.headers.origin;
  if (origin !== undefined && (origin === 'null' || !origins.includes(origin.toLowerCase()))) {
    throw new Refusal(
      'origin_not_allowed',
      `Origin "${origin}" is not on the allowlist; add it to gateway.allowedOrigins.`,
    );
  }
}

function hostName(header: string | undefined): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/.exec(header ?? '');
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}
