import type {RunnerEvent, TranscriptRecord} from '../../api/wire/runner.ts';

/** What is known beside the events when they become records. */
export interface EventContext {
  /** RFC 3339, for events that carry no time of their own. */
  readonly now: string;
  /** Sequence of a turn of this session; undefined when the turn is not known any more. */
  sequenceOf(turnUid: string): number | undefined;
}

/**
 * One place in the archive for each event, so that the numbers of events are the numbers of an append and both may be
 * repeated. null where the runner tells people in a record of its own.
 */
export function recordsOf(events: readonly RunnerEvent[], context: EventContext): (TranscriptRecord | null)[] {
  return events.map((event, index) => {
    if (event.type === 'record') return event.record;
    if (event.type === 'turnFinished') {
      const told = events.slice(0, index).some((earlier) => tellsEnd(earlier, event.turnUid));
      return told ? null : endOf(event, context);
    }
    if (event.type !== 'report' || event.message === undefined) return null;
    const {state, reason, message: text} = event;
    return {time: context.now, kind: 'notice', text, data: {state, ...(reason === undefined ? {} : {reason})}};
  });
}

function tellsEnd(event: RunnerEvent, turnUid: string): boolean {
  return event.type === 'record' && event.record.kind === 'turn_finished' && event.record.turn?.uid === turnUid;
}

function endOf(event: Extract<RunnerEvent, {type: 'turnFinished'}>, context: EventContext): TranscriptRecord {
  const {turnName: name, phase, stopReason, error, usage, finishedAt} = event;
  const sequence = context.sequenceOf(event.turnUid);
  const data = Object.entries({name, phase, stopReason, error, usage}).filter(([, value]) => value !== undefined);
  return {
    time: finishedAt,
    kind: 'turn_finished',
    ...(sequence === undefined ? {} : {turn: {uid: event.turnUid, sequence}}),
    data: Object.fromEntries(data),
  };
}
