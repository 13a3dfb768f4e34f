import type {RunnerEvent, TranscriptRecord} from '../../api/wire/runner.ts';
import type {TurnCode} from '../turn/codes.ts';
import {cleanText, head} from './clean.ts';

/**
 * What is sent instead of an event that the gateway refuses for good: its number must be taken, or nothing after it can be
 * stored. A turn ends by it, everything else becomes a note in the transcript.
 */
export function standIn(event: RunnerEvent, why: string, time: string): RunnerEvent {
  const cause = head(cleanText(why), 300);
  if (event.type === 'turnFinished') {
    const {type, turnUid, turnName, finishedAt} = event;
    const message = `the turn ended as ${event.phase}, and the platform refused the report of it: ${cause}`;
    const error = {code: 'report_refused' satisfies TurnCode, message};
    return {type, turnUid, turnName, phase: 'Failed', error, finishedAt};
  }
  const what = event.type === 'record' ? `a record (${event.record.kind})` : `an event (${event.type})`;
  const turn = event.type === 'record' ? event.record.turn : undefined;
  return note(`${what} is missing here: the platform refused it: ${cause}`, {refused: event.type}, {time, turn});
}

/** Events that the archive had, and has no more: those after `acked`, up to the first that can still be sent. */
export type Loss = {epoch: number; acked: number; from: number};

/** The note of a loss, which stands in the transcript in place of what was lost. */
export function lossNote({epoch, acked, from}: Loss, time: string): RunnerEvent {
  const text = `the archive lost what it had stored: ${from - 1 - acked} entries are missing here (numbers ${acked + 1} to ${from - 1} of epoch ${epoch})`;
  return note(text, {lost: {epoch, from: acked + 1, to: from - 1}}, {time});
}

function note(
  text: string,
  data: Record<string, unknown>,
  {time, turn}: {time: string; turn?: TranscriptRecord['turn']},
): RunnerEvent {
  return {type: 'record', record: {time, kind: 'notice', text, data, ...(turn === undefined ? {} : {turn})}};
}
