import {describe, expect, test} from 'vitest';
import {type Widget, Widgets} from '../../test/support/widgets.ts';
import {compareVersions} from '../api/version.ts';
import {createStore} from './store.ts';
import {asObject} from './typed.ts';

function widget(name: string, version: number, more: {uid?: string; size?: number; owner?: string} = {}): Widget {
  const metadata = {name, namespace: 'a', uid: more.uid ?? `uid-${name}`, resourceVersion: String(version)};
  const object = asObject(Widgets, {metadata, spec: {size: more.size, owner: more.owner}});
  if (object === undefined) throw new Error('no widget');
  return object;
}

function openStore() {
  const changes: string[] = [];
  const faults: string[] = [];
  const store = createStore<Widget>({
    indexes: {
      owner: (w) => (w.spec.owner === undefined ? [] : [w.spec.owner]),
      fussy: (w) => {
        if (w.spec.size === 13) throw new Error('unlucky');
        return [];
      },
    },
    changed: (c) => changes.push(`${c.old?.metadata.uid ?? '-'} -> ${c.new?.metadata.uid ?? '-'}`),
    broken: (_error, what, key) => faults.push(`${what} ${key}`),
  });
  return {store, changes, faults};
}

describe('store', () => {
  test('doubled, late and reordered events of one object change nothing', () => {
    const {store, changes} = openStore();
    store.upsert(widget('x', 10, {size: 2}));
    store.upsert(widget('x', 10, {size: 2}));
    store.upsert(widget('x', 9, {size: 1}));
    expect(store.get({namespace: 'a', name: 'x'})?.spec.size).toBe(2);
    store.remove(widget('x', 12));
    store.upsert(widget('x', 11));
    expect(store.size()).toBe(0);
    expect(changes).toEqual(['- -> uid-x', 'uid-x -> -']);
    expect(store.version()).toBe('12');
  });

  test('an object that left a selection may come back with a later version', () => {
    const {store} = openStore();
    store.upsert(widget('x', 10));
    store.remove(widget('x', 12));
    store.upsert(widget('x', 13));
    expect(store.size()).toBe(1);
  });

  test('the same name with another uid is a removal and an addition', () => {
    const {store, changes} = openStore();
    store.upsert(widget('x', 10, {uid: 'one'}));
    store.upsert(widget('x', 20, {uid: 'two'}));
    expect(changes).toEqual(['- -> one', 'one -> -', '- -> two']);
  });

  test('a relist removes what is gone by uid, and reports only differences', () => {
    const {store, changes} = openStore();
    for (const [name, version] of [
      ['gone', 1],
      ['same', 2],
      ['reborn', 3],
    ] as const)
      store.upsert(widget(name, version));
    changes.length = 0;
    store.replace([widget('same', 2), widget('reborn', 9, {uid: 'new'}), widget('added', 8)], '10');
    expect(changes.sort()).toEqual(['- -> new', '- -> uid-added', 'uid-gone -> -', 'uid-reborn -> -']);
    expect(store.version()).toBe('10');
  });

  test('a list older than what was seen is refused', () => {
    const {store} = openStore();
    store.upsert(widget('x', 100));
    store.replace([], '50');
    expect(store.size()).toBe(1);
  });

  test('indexes follow changes and removals', () => {
    const {store} = openStore();
    store.upsert(widget('x', 1, {owner: 'ann'}));
    store.upsert(widget('y', 2, {owner: 'ann'}));
    store.upsert(widget('x', 3, {owner: 'bob'}));
    expect(store.byIndex('owner', 'ann').map((w) => w.metadata.name)).toEqual(['y']);
    store.remove(widget('y', 4));
    expect(store.byIndex('owner', 'ann')).toEqual([]);
    expect(store.list('a')).toHaveLength(1);
    expect(() => store.byIndex('colour', 'red')).toThrow('no index "colour"; there are: owner, fussy');
  });

  test('R-F an object that breaks an index function is kept and reported', () => {
    const {store, faults} = openStore();
    store.upsert(widget('x', 1, {size: 13, owner: 'ann'}));
    expect(store.byIndex('owner', 'ann')).toHaveLength(1);
    expect(faults).toEqual(['index fussy a/x']);
  });
});

test('versions compare as integers of any length', () => {
  expect(compareVersions('9', '10')).toBeLessThan(0);
  expect(compareVersions('18446744073709551615', '18446744073709551614')).toBeGreaterThan(0);
  expect(compareVersions('7', '7')).toBe(0);
});
