import type {RunnerEvent, TranscriptRecord} from '../api/wire/runner.ts';
import {cleanText, head} from '../domain/runner/clean.ts';
import type {Draft} from '../domain/runner/merge.ts';
import type {Journal} from './journal.ts';

/** What the runner reports of its start and its agent. */
export type Report = Omit<Extract<RunnerEvent, {type: 'report'}>, 'type'>;
/** The turn that a record belongs to. */
export type RecordTurn = NonNullable<TranscriptRecord['turn']>;

/** Writes events into the journal, each within the bounds of the protocol: one that is refused would block all others. */
export class Reporter {
  private readonly journal: Journal;
  private readonly now: () => Date;

  constructor(journal: Journal, now: () => Date) {
    this.journal = journal;
    this.now = now;
  }

  time(): string {
    return this.now().toISOString();
  }

  event(event: RunnerEvent): void {
    this.journal.append(event);
  }

  /** True once the gateway has stored this very event, or a note in its place. */
  isAcknowledged(event: RunnerEvent): boolean {
    return !this.journal.holds(event);
  }

  record(draft: Draft, turn?: RecordTurn): void {
    const text = draft.text === undefined ? {} : {text: head(cleanText(draft.text), 262_144)};
    const of = turn === undefined ? {} : {turn};
    const data = draft.data === undefined ? {} : {data: draft.data};
    this.event({type: 'record', record: {time: this.time(), kind: draft.kind, ...of, ...text, ...data}});
  }

  report(report: Report): void {
    this.event({
      type: 'report',
      ...report,
      ...(report.message === undefined ? {} : {message: head(cleanText(report.message), 1024)}),
      ...(report.findings === undefined
        ? {}
        : {findings: report.findings.slice(0, 8).map((f) => ({...f, message: head(cleanText(f.message), 512)}))}),
    });
  }
}
