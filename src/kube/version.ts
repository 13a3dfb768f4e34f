import {compareVersions} from '../api/version.ts';

/** The larger of two resourceVersions; undefined counts as the smallest. */
export function laterVersion(a: string | undefined, b: string): string {
  return a === undefined || compareVersions(a, b) < 0 ? b : a;
}
