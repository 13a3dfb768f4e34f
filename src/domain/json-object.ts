import {isJson, type Json} from '../api/json.ts';

/** The object that a text holds as JSON; undefined where it holds none. */
export function jsonObject(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
