import {type Address, isWithin, parseRange, type Range} from './address.ts';
import type {RuleVerdict} from './rules.ts';
import {specialOf} from './special.ts';

/** A range that the operator lets agents reach although it is not public, on all ports or on one. */
export interface CeilingEntry {
  readonly range: Range;
  readonly port: number | undefined;
}

/** What bounds every Agent. */
export interface Ceiling {
  /** Node, pod and Service ranges of this cluster. */
  readonly cluster: readonly Range[];
  readonly allowed: readonly CeilingEntry[];
}

/** Parse `cidr` or `cidr:port`; an IPv6 range with a port is written `[cidr]:port`. Undefined when it is none of these. */
export function parseCeilingEntry(text: string): CeilingEntry | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([0-9./]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const range = parseRange(bracketed ?? plain ?? text);
  if (range === undefined || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) return undefined;
  return {range, port: port === undefined ? undefined : Number(port)};
}

/** Whether this address may be connected to, whatever an Agent says. Judged after resolution, on the address that is used. */
export function judgeAddress(address: Address, port: number, ceiling: Ceiling): RuleVerdict {
  const special = specialOf(address);
  if (special?.never === true) return refused(`${special.name} addresses are never relayed to`);
  const inCluster = ceiling.cluster.some((range) => isWithin(address, range));
  if (special === undefined && !inCluster) return {allowed: true};
  const opened = ceiling.allowed.some((e) => isWithin(address, e.range) && (e.port ?? port) === port);
  if (opened) return {allowed: true};
  const what = inCluster ? 'an address of this cluster' : `a ${special?.name} address`;
  return refused(`it is ${what}; the operator can open it in egress.allowPrivate`);
}

function refused(message: string): RuleVerdict {
  return {allowed: false, message};
}
