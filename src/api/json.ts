/** JSON object, as parsed. */
export type Json = Readonly<Record<string, unknown>>;

/** True for objects that are neither null nor arrays. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
