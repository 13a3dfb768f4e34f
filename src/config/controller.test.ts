import {describe, expect, test} from 'vitest';
import {readControllerConfig} from './controller.ts';

const least = {
  CARREL_KUBECONFIG: '/kubeconfig',
  CARREL_RELEASE_NAMESPACE: 'carrel-system',
  CARREL_RUNTIME_IMAGE: `registry.example/carrel@sha256:${'a'.repeat(64)}`,
  CARREL_ARCHIVE_URL: 'http://carrel-archive:8080',
};

describe('the range of agents’ uids', () => {
  test.each([
    [undefined, {first: 200_000, last: 265_535}],
    ['200000-200000', {first: 200_000, last: 200_000}],
    ['60000-65531', {first: 60_000, last: 65_531}],
    ['65533-2147483647', {first: 65_533, last: 2_147_483_647}],
  ])('%s', (text, range) => {
    const env = text === undefined ? least : {...least, CARREL_AGENT_UID_RANGE: text};
    expect(readControllerConfig(env).agentUids).toEqual(range);
  });

  test.each([
    ['9000-5000', 'the first number must not be larger than the last'],
    ['200000', 'write <first>-<last>, for example 200000-265535'],
    ['0-999', 'write <first>-<last>, for example 200000-265535'],
    ['200000-2147483648', 'the largest uid is 2147483647'],
    ['65532-65532', '65532 is the uid of the runner'],
    ['1000-65532', '65532 is the uid of the runner'],
    ['65532-70000', '65532 is the uid of the runner'],
    ['1000-100000', '65532 is the uid of the runner'],
  ])('%s is refused, and the message says why', (text, says) => {
    expect(() => readControllerConfig({...least, CARREL_AGENT_UID_RANGE: text})).toThrow(
      `CARREL_AGENT_UID_RANGE: ${says}`,
    );
  });
});
