import {expect, test} from 'vitest';
import {readSettings} from './settings.ts';

test('the cache follows the user unless it is named', () => {
  expect(readSettings({HOME: '/h', XDG_CACHE_HOME: '/x'}).cache).toBe('/x/carrel');
  expect(readSettings({CARREL_CACHE: '/c'})).toEqual({cache: '/c', state: '/var/lib/carrel-cluster'});
});

test('a kubeconfig without a registry is refused with what to set', () => {
  expect(() => readSettings({CARREL_KUBECONFIG: '/k'})).toThrow('set it to host:port of a registry');
  expect(readSettings({CARREL_KUBECONFIG: '/k', CARREL_REGISTRY: 'r:5000'}).existing).toEqual({
    kubeconfig: '/k',
    registry: 'r:5000',
  });
});
