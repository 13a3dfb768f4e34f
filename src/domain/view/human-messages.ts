import type {TurnObject} from '../../api/v1alpha1/index.ts';
import {oneLine} from './hierarchy.ts';

/** One thing that a known person said somewhere in the tree. */
export interface HumanMessage {
  readonly author: string;
  /** Unknown for a Turn that was written with kubectl. */
  readonly channel: string | undefined;
  readonly time: string;
  readonly text: string;
  readonly session: string;
  readonly here: boolean;
}

/** The newest messages shown. */
const MAX_MESSAGES = 50;

/** Every message with a human author in these turns, oldest first. */
export function humanMessages(turns: readonly TurnObject[], here: string): HumanMessage[] {
  return turns
    .filter((t) => t.spec.author?.kind === 'Human')
    .map((t) => ({
      author: t.spec.author?.name ?? '',
      channel: t.spec.author?.channel,
      time: t.status?.admittedAt ?? t.metadata.creationTimestamp,
      text: t.spec.input.map((p) => p.text ?? '(in a ConfigMap)').join('\n'),
      session: t.spec.session,
      here: t.spec.session === here,
    }))
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

/** `### Human Messages`: present always, and explicit when there are none (Z-061). */
export function renderHumanMessages(messages: readonly HumanMessage[]): string {
  const heading = '### Human Messages';
  if (messages.length === 0)
    return `${heading}\n\nNone: no person has written to this session or to another in its hierarchy.`;
  const shown = messages.slice(-MAX_MESSAGES);
  const lines = shown.map((m) => {
    const where = m.here ? 'here' : `elsewhere: ${m.session}`;
    const by = m.channel === undefined ? m.author : `${m.author} (${m.channel})`;
    return `- ${m.time} ${by} [${where}]: ${oneLine(m.text, 2_000)}`;
  });
  const left = messages.length - shown.length;
  return [heading, '', ...(left > 0 ? [`${left} older messages are not shown.`, ''] : []), ...lines].join('\n');
}
