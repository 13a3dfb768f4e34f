/** Bytes of a line that is not JSON which are kept to show. */
const KEEP_SAMPLE = 200;

/**
 * Lets the lines of an agent's standard output pass that can be JSON, and tells of all others: those are how something
 * that is not an ACP agent, or a stray print of one that is, shows itself. Holds output back while `room` is pending.
 */
export function jsonLines(
  output: ReadableStream<Uint8Array>,
  on: {otherLine(sample: string): void; room(): Promise<void>},
): ReadableStream<Uint8Array> {
  let inLine: 'start' | 'json' | 'other' = 'start';
  let sample = '';
  const filter = (chunk: Uint8Array, pass: (part: Uint8Array) => void): void => {
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(10, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      const part = chunk.subarray(at, end);
      if (inLine === 'start') inLine = kindOf(part);
      if (inLine === 'json') pass(part);
      if (inLine === 'other' && sample.length < KEEP_SAMPLE) sample += Buffer.from(part).toString('utf8');
      if (newline !== -1) {
        if (inLine === 'other') on.otherLine(sample.trim().slice(0, KEEP_SAMPLE));
        inLine = 'start';
        sample = '';
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
