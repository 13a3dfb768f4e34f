import {describe, expect, test} from 'vitest';
import {readArchiveConfig} from './archive.ts';

const least = {CARREL_KUBECONFIG: '/kubeconfig', CARREL_ARCHIVE_CALLERS: 'system:serviceaccount:a:gateway'};
const DAY = 86_400_000;

describe('how long the archive keeps a transcript', () => {
  test.each([
    [undefined, 90 * DAY],
    ['12h', DAY / 2],
    ['7d', 7 * DAY],
    ['forever', undefined],
  ])('%s', (text, keepMs) => {
    const env = text === undefined ? least : {...least, CARREL_ARCHIVE_RETENTION: text};
    expect(readArchiveConfig(env).keepMs).toBe(keepMs);
  });

  // A value that is misread would delete what somebody wants to keep.
  test.each(['', '0d', '90', '30m', '-1d', '1d12h', 'never', '90D'])('%j is refused with what is allowed', (text) => {
    expect(() => readArchiveConfig({...least, CARREL_ARCHIVE_RETENTION: text})).toThrow(
      'CARREL_ARCHIVE_RETENTION: write hours or days, such as 90d, or forever',
    );
  });
});
