import {type Address, isWithin, parseRange, type Range} from './address.ts';

/** What is special about an address. `never` kinds cannot be allowed by anybody: they reach something else than they say. */
export interface Special {
  readonly name: string;
  readonly never: boolean;
}

// First match wins.
const TABLE: readonly (readonly [name: string, never: boolean, ranges: readonly string[]])[] = [
  ['unspecified', true, ['0.0.0.0/8', '::/128']],
  ['loopback', false, ['127.0.0.0/8', '::1/128']],
  ['IPv4-mapped', true, ['::ffff:0:0/96', '::ffff:0:0:0/96']],
  ['IPv4-compatible', true, ['::/96']],
  ['NAT64', true, ['64:ff9b::/96', '64:ff9b:1::/48']],
  ['6to4', true, ['2002::/16', '192.88.99.0/24']],
  ['Teredo', true, ['2001::/32']],
  [
    'cloud metadata',
    false,
    ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::254/128'],
  ],
  ['link-local', false, ['169.254.0.0/16', 'fe80::/10']],
  ['private', false, ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['carrier-grade NAT', false, ['100.64.0.0/10']],
  ['multicast', true, ['224.0.0.0/4', 'ff00::/8']],
  ['documentation', false, ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['benchmarking', false, ['198.18.0.0/15']],
  ['reserved', false, ['192.0.0.0/24', '240.0.0.0/4', '100::/64', '2001::/23', '5f00::/16']],
];

const SPECIAL: readonly {readonly special: Special; readonly range: Range}[] = TABLE.flatMap(([name, never, ranges]) =>
  ranges.map((text) => ({special: {name, never}, range: known(text)})),
);

const GLOBAL_V6 = known('2000::/3');
const RESERVED: Special = {name: 'reserved', never: false};

/** What is special about this address; undefined = an ordinary public one. All of IPv6 outside 2000::/3 is special. */
export function specialOf(address: Address): Special | undefined {
  const found = SPECIAL.find(({range}) => isWithin(address, range))?.special;
  if (found !== undefined || address.family === 4) return found;
  return isWithin(address, GLOBAL_V6) ? undefined : RESERVED;
}

function known(text: string): Range {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`not a range: ${text}`);
  return range;
}
