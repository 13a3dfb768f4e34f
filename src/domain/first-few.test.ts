import {expect, test} from 'vitest';
import {firstFew} from './first-few.ts';

test.each([
  [[], 2, ''],
  [['a'], 2, 'a'],
  [['a', 'b'], 2, 'a, b'],
  [['a', 'b', 'c', 'd'], 2, 'a, b and 2 more'],
] as const)('of %j at most %i are said: %s', (items, most, said) => {
  expect(firstFew(items, most)).toBe(said);
});
