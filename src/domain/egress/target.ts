import {type Address, parseAddress} from './address.ts';

/** Where a CONNECT wants to go. */
export interface Target {
  /** Name in lower case without a final dot, or the address as text. */
  readonly host: string;
  readonly port: number;
  /** Set when the host is an address, not a name. */
  readonly address: Address | undefined;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
// `2130706433`, `0x7f.1`, `0177.0.0.1`, `127.1`: some libraries take these for IPv4 addresses, so nobody may mean them.
const NUMERIC_END = /(^|\.)([0-9]+|0x[0-9a-f]*)$/;

/** Parse `host:port` or `[IPv6]:port`; undefined when it is neither, or an address in disguise. */
export function parseTarget(authority: string): Target | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]@/\s]+)):([0-9]{1,5})$/.exec(authority);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) return undefined;
  const [, bracketed, plain = ''] = match;
  if (bracketed !== undefined) {
    const address = parseAddress(bracketed);
    return address?.family === 6 ? {host: bracketed.toLowerCase(), port, address} : undefined;
  }
  const host = plain.toLowerCase().replace(/\.$/, '');
  const address = parseAddress(host);
  if (address !== undefined) return {host, port, address};
  return NAME.test(host) && !NUMERIC_END.test(host) ? {host, port, address} : undefined;
}
