/** Every instruction that a prompt may hold, with what stands after it. */
export const VERBS = [
  'say',
  'remember',
  'recall',
  'read',
  'write',
  'count',
  'model',
  'quietmodel',
  'tools',
  'tool',
  'ask',
  'permission',
  'elicit',
  'stall',
  'deaf',
  'flood',
  'fork',
  'crash',
  'kill',
  'oom',
  'env',
  'fetch',
  'refuse',
  'noword',
] as const;

/** Name of an instruction. */
export type Verb = (typeof VERBS)[number];

/** One line of a prompt that is an instruction. */
export interface Instruction {
  verb: Verb;
  argument: string;
}

const isVerb = (word: string): word is Verb => VERBS.some((verb) => verb === word);

function instructionsOf(text: string): Instruction[] {
  return text.split('\n').flatMap((line) => {
    const [, word = '', argument = ''] = /^(\S+)(?:\s+(.*))?$/.exec(line.trim()) ?? [];
    return isVerb(word) ? [{verb: word, argument: argument.trim()}] : [];
  });
}

/**
 * Finds the instructions of a prompt: lines whose first word is a verb, in lower case; all other lines beside them are
 * left aside. Of several blocks the last one that holds an instruction counts, because the ones before it may quote
 * earlier prompts. A prompt without any instruction is prose.
 */
export function readScript(blocks: readonly string[]): Instruction[] {
  return (
    blocks
      .map(instructionsOf)
      .filter((found) => found.length > 0)
      .at(-1) ?? []
  );
}
