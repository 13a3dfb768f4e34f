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

/**
 * Finds the instructions of a prompt: lines whose first word is a verb, in lower case. Where there is one, all other
 * lines are left aside; a prompt without any is prose.
 */
export function readScript(prompt: string): Instruction[] {
  return prompt.split('\n').flatMap((line) => {
    const [, word = '', argument = ''] = /^(\S+)(?:\s+(.*))?$/.exec(line.trim()) ?? [];
    return isVerb(word) ? [{verb: word, argument: argument.trim()}] : [];
  });
}
