import {isIPv4, isIPv6} from 'node:net';

/** An IP address as a number; the two families are never compared with each other. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** A range of addresses. */
export interface Range {
  readonly family: 4 | 6;
  readonly value: bigint;
  /** Leading bits that are equal. */
  readonly prefix: number;
}

const BITS = {4: 32, 6: 128} as const;

/** Parse an address in its plain form: four decimal numbers, or IPv6 without brackets and zone. Undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return {family: 4, value: ipv4Value(text)};
  if (isIPv6(text) && !text.includes('%')) return {family: 6, value: ipv6Value(text)};
  return undefined;
}

/** Parse `address/prefix`; a plain address is a range of one. Undefined when it is neither, or has bits beyond its prefix. */
export function parseRange(text: string): Range | undefined {
  const [base, length, ...rest] = text.split('/');
  const address = parseAddress(base ?? '');
  if (address === undefined || rest.length > 0) return undefined;
  const bits = BITS[address.family];
  const prefix = length === undefined ? bits : /^[0-9]{1,3}$/.test(length) ? Number(length) : bits + 1;
  if (prefix > bits) return undefined;
  const range = {...address, prefix};
  return head(address, prefix) << BigInt(bits - prefix) === address.value ? range : undefined;
}

/** Whether the address lies in the range. */
export function isWithin(address: Address, range: Range): boolean {
  return address.family === range.family && head(address, range.prefix) === head(range, range.prefix);
}

function head({family, value}: Address, prefix: number): bigint {
  return value >> BigInt(BITS[family] - prefix);
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  // A dotted tail stands for the last two groups.
  const dotted = /^(.*:)([0-9.]+)$/.exec(text);
  const tail = dotted?.[2]?.includes('.') === true ? ipv4Value(dotted[2]) : undefined;
  const plain =
    tail === undefined ? text : `${dotted?.[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  const [left = '', right] = plain.split('::');
  const before = groups(left);
  const after = groups(right ?? '');
  const zeros = right === undefined ? [] : Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | group, 0n);
}

function groups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}
