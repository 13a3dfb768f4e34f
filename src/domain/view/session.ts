import type {QuestionObject, SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import {oneLine, renderHierarchy, type TreeNode} from './hierarchy.ts';
import {type HumanMessage, renderHumanMessages} from './human-messages.ts';

/** Everything that `get_session` shows. Turns and questions are absent when they were not asked for. */
export interface SessionView {
  readonly session: SessionObject;
  readonly tree: {readonly nodes: readonly TreeNode[]; readonly more: boolean};
  readonly messages: readonly HumanMessage[];
  readonly turns?: readonly TurnObject[] | undefined;
  readonly questions?: readonly QuestionObject[] | undefined;
}

/** A session as text; hierarchy and human messages are never behind a flag (Z-058). */
export function renderSession(view: SessionView): string {
  const {session} = view;
  return [
    `## Session: ${oneLine(session.spec.title ?? session.metadata.name)}`,
    facts(session),
    section('Goal', session.spec.goal),
    section('Notes', session.spec.notes),
    view.turns === undefined ? undefined : renderTurns(view.turns),
    view.questions === undefined ? undefined : renderQuestions(view.questions),
    renderHierarchy(session, view.tree),
    renderHumanMessages(view.messages),
  ]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

/** One line of a search result. */
export function renderSessionLine(session: SessionObject): string {
  const title = session.spec.title === undefined ? '' : ` "${oneLine(session.spec.title)}"`;
  const {name, creationTimestamp} = session.metadata;
  return `- ${name}${title} [${session.status?.phase ?? 'Pending'}] agent ${session.spec.agent}, created ${creationTimestamp}`;
}

function facts(session: SessionObject): string {
  const {metadata, spec, status} = session;
  const ready = status?.conditions?.find((c) => c.type === 'Ready');
  const lines: [string, string | number | undefined][] = [
    ['ID', metadata.name],
    ['Namespace', metadata.namespace],
    ['Agent', spec.agent],
    ['Phase', status?.phase ?? 'Pending'],
    ['Desired', spec.desired],
    ['Stopped because', status?.stoppedReason],
    [
      'Ready',
      ready === undefined ? undefined : `${ready.status} (${ready.reason}) ${oneLine(ready.message, 500)}`.trim(),
    ],
    ['Model', spec.model?.name],
    ['Owner', spec.owner],
    ['Created', metadata.creationTimestamp],
    ['Turns ended', status?.turns ?? 0],
    ['Turns queued', status?.queued ?? 0],
    ['Running turn', status?.activeTurn?.name],
    ['Open questions', status?.questions ?? 0],
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`])).join('\n');
}

function section(title: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : `### ${title}\n\n${text}`;
}

function renderTurns(turns: readonly TurnObject[]): string {
  const lines = [...turns].sort(bySequence).map((t) => {
    const error = t.status?.error === undefined ? '' : ` ${t.status.error.code}: ${oneLine(t.status.error.message)}`;
    const response = t.status?.response === undefined ? '' : `\n  ${oneLine(t.status.response, 1_000)}`;
    const author = t.spec.author === undefined ? 'unknown' : `${t.spec.author.kind} ${t.spec.author.name}`;
    return `- ${t.status?.sequence ?? '-'} ${t.metadata.name} [${t.status?.phase ?? 'Queued'}] by ${author}${error}${response}`;
  });
  return ['### Turns', '', ...(lines.length === 0 ? ['None.'] : lines)].join('\n');
}

function renderQuestions(questions: readonly QuestionObject[]): string {
  const lines = questions.map((q) => {
    const options = q.spec.options?.map((o) => o.id).join(', ');
    return `- ${q.metadata.name} [${q.status?.phase ?? 'Open'}] ${q.spec.kind}: ${oneLine(q.spec.text, 500)}${options ? ` (${options})` : ''}`;
  });
  return ['### Questions', '', ...(lines.length === 0 ? ['None.'] : lines)].join('\n');
}

function bySequence(a: TurnObject, b: TurnObject): number {
  return (a.status?.sequence ?? Number.MAX_SAFE_INTEGER) - (b.status?.sequence ?? Number.MAX_SAFE_INTEGER);
}
