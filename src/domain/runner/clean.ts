/**
 * Text and data of an agent before they are stored: no lone surrogates (RFC 8785 has no form for them), no NUL
 * (PostgreSQL cannot keep it), bounded.
 */

/** `text` in storable form. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** At most `max` characters from the start; never half a surrogate pair. */
export function head(text: string, max: number): string {
  return text.length <= max
    ? text
    : `${text
        .slice(0, max - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`;
}

/** At most `max` characters from the end. */
export function tail(text: string, max: number): string {
  return text.length <= max
    ? text
    : `…${text
        .slice(1 - max)
        .toWellFormed()
        .replace(/^\uFFFD/, '')}`;
}

/** Last output of a process as one line that is safe in a terminal and an event: no control or bidi characters. */
export function printableTail(output: string, max: number): string {
  return tail(printable(output), max);
}

/**
 * The same with what names the cause: a stack trace behind the error would push it out of the end. In a long output, the
 * first line that looks like an error, or else the first one, stands before the end.
 */
export function printableWords(output: string, max: number): string {
  const plain = printable(output);
  if (plain.length <= max) return plain;
  const lines = output.split(/[\r\n]+/).map(printable);
  const cause = head(
    lines.find((line) => CAUSE.test(line)) ?? lines.find((line) => line !== '') ?? '',
    Math.floor(max / 3),
  );
  const end = tail(plain, max);
  return end.includes(cause) ? end : `${cause} ${tail(plain, max - cause.length - 1)}`;
}

const CAUSE = /(?:error|exception)\b|\b(?:panic|fatal)\b/i;

function printable(output: string): string {
  return (
    cleanText(output)
      // Escape sequences first as a whole, so that no rest like `[31m` stays.
      .replaceAll(/\p{Cc}\[[0-?]*[ -/]*[@-~]/gu, '')
      .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
      .trim()
  );
}

const MAX_DEPTH = 32;

/**
 * `value` as plain data of about `maxBytes` at most; what is too deep or too large is replaced by a note of its size. First
 * the large members go; many small ones, or long names, are kept for as long as there is room.
 */
export function cleanData(value: Readonly<Record<string, unknown>>, maxBytes: number): Record<string, unknown> {
  const size = JSON.stringify(value)?.length ?? 0;
  const cleaned: Record<string, unknown> = {};
  let room = maxBytes;
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') continue;
    const length = JSON.stringify(member)?.length ?? 0;
    const share = size > maxBytes && length > 1024 && length > maxBytes / 8;
    room -= name.length + (share ? 0 : length) + 64;
    if (size > maxBytes && room < 0) return {...cleaned, truncated: true, length: size};
    cleaned[cleanText(name)] = share ? {truncated: true, length} : cleanValue(member, 0);
  }
  return cleaned;
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return {truncated: true};
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, depth + 1));
  const cleaned: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name !== '__proto__') cleaned[cleanText(name)] = cleanValue(member, depth + 1);
  }
  return cleaned;
}
