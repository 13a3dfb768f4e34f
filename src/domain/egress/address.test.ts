import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {isWithin, parseAddress, parseRange} from './address.ts';

describe('addresses', () => {
  const rows: [string, bigint | undefined][] = [
    ['1.2.3.4', 0x01020304n],
    ['255.255.255.255', 0xffffffffn],
    ['::', 0n],
    ['::1', 1n],
    ['1::', 1n << 112n],
    ['2001:db8::8a2e:370:7334', 0x20010db80000000000008a2e03707334n],
    ['::ffff:127.0.0.1', 0xffff7f000001n],
    ['64:ff9b::10.0.0.1', (0x64ff9bn << 96n) | 0x0a000001n],
    ['1:2:3:4:5:6:7.8.9.10', 0x000100020003000400050006_0708090an],
    ['fe80::1%eth0', undefined],
    ['01.2.3.4', undefined],
    ['1.2.3', undefined],
    ['0x7f000001', undefined],
    ['[::1]', undefined],
    ['', undefined],
  ];
  for (const [text, value] of rows)
    it(`${text || 'nothing'} is ${value}`, () => expect(parseAddress(text)?.value).toBe(value));

  it('of IPv6 read the same in every spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const parsed = parseAddress(text);
        const full = (parsed?.value ?? -1n).toString(16).padStart(32, '0').match(/.{4}/g)?.join(':') ?? '';
        expect(parseAddress(full)).toEqual(parsed);
      }),
    );
  });
});

describe('ranges', () => {
  const rows: [string, string, boolean][] = [
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['1.2.3.4', '1.2.3.4', true],
    ['fc00::/7', 'fdff::1', true],
    ['fc00::/7', 'fe00::1', false],
  ];
  for (const [range, address, inside] of rows) {
    it(`${address} is ${inside ? '' : 'not '}in ${range}`, () => {
      const [r, a] = [parseRange(range), parseAddress(address)];
      expect(r !== undefined && a !== undefined && isWithin(a, r)).toBe(inside);
    });
  }
  for (const text of ['10.0.0.1/8', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', 'x/8']) {
    it(`${text} is none`, () => expect(parseRange(text)).toBeUndefined());
  }
});
