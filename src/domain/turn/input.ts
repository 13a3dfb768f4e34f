import type {TurnObject, TurnSpec} from '../../api/v1alpha1/index.ts';

/** Most bytes of all texts of one turn. */
export const MAX_INPUT_BYTES = 65_536;

/** On cached turns only: bytes of the texts that the cache has dropped. */
const ANNOTATION_BYTES = 'cache.carrel.dev/input-bytes';

// The schema allows 16,384 characters for each part.
const PART = 16_384;

/** Bytes of all texts of a turn in UTF-8, also of one whose body the cache has dropped. */
export function inputBytes(turn: TurnObject): number {
  const kept = turn.metadata.annotations?.[ANNOTATION_BYTES];
  if (kept !== undefined) return Number(kept);
  return turn.spec.input.reduce((sum, part) => sum + Buffer.byteLength(part.text ?? '', 'utf8'), 0);
}

/** The turn without its texts: what a cache keeps. */
export function withoutBody(turn: TurnObject): TurnObject {
  const annotations = {...turn.metadata.annotations, [ANNOTATION_BYTES]: String(inputBytes(turn))};
  const input = turn.spec.input.map((part) => (part.text === undefined ? part : {text: ''}));
  return {...turn, metadata: {...turn.metadata, annotations}, spec: {...turn.spec, input}};
}

/** Cuts a prompt into parts that the schema allows, never inside a character. */
export function inputParts(prompt: string): TurnSpec['input'] {
  const parts: TurnSpec['input'] = [];
  for (let from = 0; from < prompt.length; ) {
    let to = Math.min(prompt.length, from + PART);
    if (to < prompt.length && isHighSurrogate(prompt.charCodeAt(to - 1))) to -= 1;
    parts.push({text: prompt.slice(from, to)});
    from = to;
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
