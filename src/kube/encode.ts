const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * JSON as the API server writes it, with `<`, `>`, `&` and two line separators escaped: a `test` of a JSON Patch compares
 * strings as they are written, so `"<b>"` and `"\u003cb\u003e"` would differ, for ever.
 */
export function encodeJson(body: unknown): string {
  return JSON.stringify(body).replace(ESCAPED, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
