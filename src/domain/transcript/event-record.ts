import type {RunnerEvent, TranscriptRecord} from '../../api/wire/runner.ts';

/** What is known beside an event when it becomes a record. */
export interface EventContext {
  /** RFC 3339, for events that carry no time of their own. */
  readonly now: string;
  /** Sequence of a turn of this session; undefined when the turn is not known any more. */
  sequenceOf(turnUid: string): number | undefined;
}

/** Every event is exactly one record, so that numbers of events are numbers of records and an append may be repeated. */
export function recordOf(event: RunnerEvent, context: EventContext): TranscriptRecord {
  switch (event.type) {
    case 'record':
      return event.record;
    case 'report':
      return {time: context.now, kind: reportKind(event.state), ...textOf(event.message), data: dataOf(event)};
    case 'turnFinished':
      return {
        time: event.finishedAt,
        kind: 'turn_finished',
        ...turnOf(event.turnUid, context),
        ...textOf(event.response ?? event.error?.message),
        data: dataOf(event, 'response', 'turnUid', 'finishedAt'),
      };
    case 'question':
      return {
        time: context.now,
        kind: 'question',
        ...turnOf(event.turnUid, context),
        text: event.text,
        data: dataOf(event, 'text', 'turnUid'),
      };
    case 'delivered':
      return {time: event.at, kind: 'notice', text: 'answer delivered', data: dataOf(event, 'at')};
    case 'withdrawn':
      return {
        time: context.now,
        kind: 'notice',
        ...turnOf(event.turnUid, context),
        text: 'question withdrawn by the agent',
        data: dataOf(event, 'turnUid'),
      };
  }
}

function reportKind(state: Extract<RunnerEvent, {type: 'report'}>['state']): TranscriptRecord['kind'] {
  if (state === 'Ready') return 'agent_started';
  return state === 'Exited' || state === 'Failed' ? 'agent_exited' : 'notice';
}

function turnOf(uid: string, context: EventContext): Pick<TranscriptRecord, 'turn'> {
  const sequence = context.sequenceOf(uid);
  return sequence === undefined ? {} : {turn: {uid, sequence}};
}

function textOf(text: string | undefined): Pick<TranscriptRecord, 'text'> {
  return text === undefined ? {} : {text};
}

function dataOf(event: RunnerEvent, ...without: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'type' && !without.includes(key)));
}
