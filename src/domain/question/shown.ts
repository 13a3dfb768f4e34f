import {cutBytes} from '../status-size.ts';

/** Bytes of one value that are shown. */
const MAX_VALUE = 48;

/** JSON text in which nothing is invisible: what turns, hides or moves text in a terminal is written as its code. */
export function visible(json: string): string {
  return json.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** A value of others, short enough for a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return visible(JSON.stringify(cutBytes(value, MAX_VALUE)));
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** A name of others: bare where it is a word. */
export function shownName(name: string): string {
  return /^[\w.-]{1,48}$/.test(name) ? name : shown(name);
}
