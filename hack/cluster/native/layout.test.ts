import {expect, test} from 'vitest';
import {layoutOf, MAX_NODES, nodeLayout, SLOTS} from './layout.ts';

test('two clusters side by side share no address range and no kernel name', () => {
  const layouts = Array.from({length: SLOTS}, (_, slot) => layoutOf('/state', `c${slot}`, slot));
  const ranges = layouts.flatMap(({networks}) =>
    Object.values(networks).map((range) => range.split('.').slice(0, 2).join('.')),
  );
  expect(new Set(ranges).size).toBe(ranges.length);
  expect(new Set(layouts.map(({prefix}) => prefix)).size).toBe(SLOTS);
});

test('the last node has addresses inside the ranges of its cluster', () => {
  const layout = layoutOf('/state', 'carrel', 0);
  expect(nodeLayout(layout, MAX_NODES)).toMatchObject({
    name: 'n40',
    address: '10.250.0.50',
    pods: '10.200.40.0/24',
    cgroup: 'crl0-n40',
  });
});

test('interface names fit the 15 characters of the kernel', () => {
  const layout = layoutOf('/state', 'carrel', SLOTS - 1);
  const names = [layout.prefix, `${layout.prefix}peer`, layout.controlPlane.port, nodeLayout(layout, MAX_NODES).port];
  expect(names.filter((name) => name.length > 15)).toEqual([]);
});
