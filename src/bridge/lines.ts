/** One line of input, without its end; undefined: it was longer than is kept. */
export type Line = string | undefined;

/** Cuts bytes into lines; `most` bounds what is ever kept of one. */
export class LineCutter {
  private readonly most: number;
  private kept: Uint8Array[] = [];
  private size = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** The lines that are complete after `chunk`. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(10, at);
      const end = newline === -1 ? chunk.length : newline;
      this.keep(chunk.subarray(at, end));
      if (newline !== -1) lines.push(this.take());
      at = end + 1;
    }
    return lines;
  }

  /** What came after the last line end. */
  take(): Line {
    const line = this.size > this.most ? undefined : Buffer.concat(this.kept).toString('utf8').replace(/\r$/, '');
    this.kept = [];
    this.size = 0;
    return line;
  }

  private keep(part: Uint8Array): void {
    this.size += part.length;
    if (this.size <= this.most) this.kept.push(part);
    else this.kept = [];
  }
}
