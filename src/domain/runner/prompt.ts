import type {Desired, TranscriptRecord} from '../../api/wire/runner.ts';
import {tail} from './clean.ts';

/** What a prompt is made of. */
export type PromptParts = {
  turn: NonNullable<Desired['turn']>;
  goal?: string | undefined;
  /** Only before the first prompt of a conversation that the agent has no memory of. */
  instructions?: string | undefined;
  /** End of the transcript, where the agent lost its own. */
  earlier?: string | undefined;
};

/** The text blocks of a prompt, in the order in which the agent reads them. */
export function composePrompt(parts: PromptParts): string[] {
  const blocks: string[] = [];
  if (parts.instructions !== undefined) blocks.push(parts.instructions);
  if (parts.earlier !== undefined) {
    blocks.push(`Your memory of this conversation was lost. This is the end of its transcript:\n\n${parts.earlier}`);
  }
  if (parts.goal !== undefined) blocks.push(`Goal of this session: ${parts.goal}`);
  blocks.push(...parts.turn.preface, ...parts.turn.input.map((part) => part.text));
  return blocks.filter((block) => block.length > 0);
}

const SPEAKER: Partial<Record<TranscriptRecord['kind'], string>> = {
  prompt: 'User',
  message: 'You',
  question: 'You asked',
  answer: 'Answer',
};

/** The words of a transcript as text, from the end, at most `max` characters; nothing when there are none. */
export function transcriptText(records: readonly TranscriptRecord[], max: number): string | undefined {
  const lines: string[] = [];
  for (const record of records) {
    const speaker = SPEAKER[record.kind];
    if (speaker !== undefined && record.text) lines.push(`${speaker}: ${record.text}`);
  }
  return lines.length === 0 ? undefined : tail(lines.join('\n\n'), max);
}
