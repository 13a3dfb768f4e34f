/** So long an archive may take nothing before that is news: its restart is none. */
export const ARCHIVE_NEWS_MS = 10_000;
/** What has not failed again for so long goes on somewhere else. */
const FORGOTTEN_MS = 60_000;

/** Remembers since when something waits for the archive; times are milliseconds of one clock. */
export class ArchiveWaits {
  /** In the order of the last failure. */
  private readonly failures = new Map<string, {first: number; last: number}>();

  /** The archive has not taken it: true when that is news by now. */
  failed(key: string, now: number): boolean {
    this.forget(now);
    const first = this.failures.get(key)?.first ?? now;
    this.failures.delete(key);
    this.failures.set(key, {first, last: now});
    return now - first >= ARCHIVE_NEWS_MS;
  }

  /** True when it failed and did not pass since. */
  has(key: string): boolean {
    return this.failures.has(key);
  }

  /** The archive has taken it. */
  passed(key: string): void {
    this.failures.delete(key);
  }

  private forget(now: number): void {
    for (const [key, {last}] of this.failures) {
      if (now - last < FORGOTTEN_MS) return;
      this.failures.delete(key);
    }
  }
}
