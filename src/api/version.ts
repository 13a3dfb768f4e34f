/** Compare two resourceVersions of one resource: documented as integers of any length, so longer is larger. */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
