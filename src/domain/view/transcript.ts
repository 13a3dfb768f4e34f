import type {StoredRecord} from '../../api/wire/archive.ts';

/** Records as a person reads them; what has no text is shown as JSON on one line. */
export function renderTranscript(records: readonly StoredRecord[]): string {
  return records.map(renderRecord).join('\n\n');
}

function renderRecord(record: StoredRecord): string {
  const turn = record.turn === undefined ? '' : ` turn ${record.turn.sequence}`;
  const text = record.text ?? (record.data === undefined ? '' : JSON.stringify(record.data));
  return `[${record.n}] ${record.time}${turn} ${record.kind}\n${text}`.trimEnd();
}
