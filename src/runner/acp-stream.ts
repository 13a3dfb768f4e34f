/** Bytes of a line that is not JSON which are kept to show. */
const KEEP_SAMPLE = 200;
/** Values in one message: parsed, each takes some 50 bytes, so that 8 MiB of them would be more than the runner has. */
const MAX_VALUES = 100_000;

/**
 * Lets the lines of an agent's standard output pass that can be JSON, and tells of all others: those are how something
 * that is not an ACP agent, or a stray print of one that is, shows itself. Holds output back while `room` is pending. A
 * message of too many values breaks the stream.
 */
export function jsonLines(
  output: ReadableStream<Uint8Array>,
  on: {otherLine(sample: string): void; room(): Promise<void>},
): ReadableStream<Uint8Array> {
  let inLine: 'start' | 'json' | 'other' = 'start';
  let sample = '';
  let values = new ValueCount();
  const filter = (chunk: Uint8Array, pass: (part: Uint8Array) => void): void => {
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(10, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      const part = chunk.subarray(at, end);
      if (inLine === 'start') inLine = kindOf(part);
      if (inLine === 'json') {
        if (values.add(part) > MAX_VALUES) throw new Error(`a message of more than ${MAX_VALUES} values`);
        pass(part);
      }
      if (inLine === 'other' && sample.length < KEEP_SAMPLE) sample += Buffer.from(part).toString('utf8');
      if (newline !== -1) {
        if (inLine === 'other') on.otherLine(sample.trim().slice(0, KEEP_SAMPLE));
        inLine = 'start';
        sample = '';
        values = new ValueCount();
      }
      at = end;
    }
  };
  return output.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>(
      {
        transform: async (chunk, controller) => {
          await on.room();
          filter(chunk, (part) => controller.enqueue(part));
        },
        flush: () => {
          if (inLine === 'other') on.otherLine(sample.trim().slice(0, KEEP_SAMPLE));
        },
      },
      undefined,
      {highWaterMark: 0},
    ),
  );
}

/** By the first byte that is no blank; a line of blanks so far is undecided. */
function kindOf(part: Uint8Array): 'start' | 'json' | 'other' {
  for (const byte of part) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a) continue;
    return byte === 0x7b || byte === 0x5b ? 'json' : 'other';
  }
  return 'start';
}

/** Counts, without parsing it, what a JSON text opens and separates outside its strings. */
class ValueCount {
  private count = 0;
  private text: 'outside' | 'inside' | 'escaped' = 'outside';

  add(part: Uint8Array): number {
    for (const byte of part) {
      if (this.text === 'escaped') this.text = 'inside';
      else if (this.text === 'inside') this.text = byte === 0x5c ? 'escaped' : byte === 0x22 ? 'outside' : 'inside';
      else if (byte === 0x22) this.text = 'inside';
      else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) this.count += 1;
    }
    return this.count;
  }
}
