import {expect, test} from 'vitest';
import {ArchiveWaits} from './archive-waits.ts';

test('a failure is news once it lasts longer than a restart of the archive', () => {
  const waits = new ArchiveWaits();
  expect([0, 5_000, 9_999, 10_000, 15_000].map((at) => waits.failed('one', at))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
  expect(waits.has('one')).toBe(true);
  waits.passed('one');
  expect(waits.has('one')).toBe(false);
  expect(waits.failed('one', 16_000)).toBe(false);
});

test('a failure that never came back here is forgotten: it went on at another replica', () => {
  const waits = new ArchiveWaits();
  waits.failed('one', 0);
  waits.failed('two', 50_000);
  expect(waits.failed('three', 61_000)).toBe(false);
  expect(waits.has('one')).toBe(false);
  expect(waits.failed('two', 61_000)).toBe(true);
});
