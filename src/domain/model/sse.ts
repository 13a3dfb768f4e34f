/** Longest `data` that is kept for reading; a longer event passes through unread. */
const MAX_EVENT = 1 << 20;

/** Splits a text stream into the `data` of its server-sent events, whatever way the chunks were cut. */
export class SseReader {
  private rest = '';
  private data: string[] = [];
  private size = 0;
  private readonly maxEvent: number;

  constructor(maxEvent = MAX_EVENT) {
    this.maxEvent = maxEvent;
  }

  /** Takes a chunk and returns the data of each event that it completes. */
  push(chunk: string): string[] {
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    // A line that never ends must not grow for ever: nothing of it is of use any more.
    if (this.rest.length > this.maxEvent) this.rest = '';
    const events: string[] = [];
    for (const line of lines) {
      if (line === '') this.flush(events);
      else if (line.startsWith('data:')) this.keep(line.slice(line[5] === ' ' ? 6 : 5));
    }
    return events;
  }

  /** Returns what an ending stream leaves without its empty line. */
  end(): string[] {
    return this.push('\n\n');
  }

  private keep(text: string): void {
    // One more for its line break: empty lines without end count too.
    this.size += text.length + 1;
    if (this.size <= this.maxEvent) this.data.push(text);
  }

  private flush(events: string[]): void {
    if (this.data.length > 0 && this.size <= this.maxEvent) events.push(this.data.join('\n'));
    this.data = [];
    this.size = 0;
  }
}
