import {describe, expect, test} from 'vitest';
import {childName, freshSessionName, keyedSessionName, keyedSuffix} from './names.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?$/;

describe('names', () => {
  test('Z-083 a key gives one name in a namespace, for every caller', () => {
    expect(keyedSessionName('a', 'k')).toBe(keyedSessionName('a', 'k'));
    expect(keyedSessionName('a', 'k')).not.toBe(keyedSessionName('b', 'k'));
    expect(keyedSessionName('a', 'k')).not.toBe(keyedSessionName('a', 'l'));
  });

  test('all fit the 48 characters of a name, whatever they are made of', () => {
    const long = `${'a'.repeat(36)}-.${'b'.repeat(10)}`;
    const uid = '01234567-89ab-cdef-0123-456789abcdef';
    const names = [
      keyedSessionName('a', 'k'),
      freshSessionName(long, '0123456789abcdef0123'),
      childName({name: long, uid}, '0123456789abcdef0123'),
      childName({name: 'x', uid}, `q${keyedSuffix(['a'])}`),
    ];
    for (const name of names) expect(name).toMatch(LABEL);
  });

  test('parts of a key cannot run into each other', () => {
    expect(keyedSuffix(['ab', 'c'])).not.toBe(keyedSuffix(['a', 'bc']));
  });
});
