/**
 * The same JSON with every lone surrogate replaced by U+FFFD, in keys too: agents cut texts in the middle of a character,
 * RFC 8785 refuses such strings, and a database would store something else than what was hashed.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]));
}
