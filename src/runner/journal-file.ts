import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {RunnerEvent} from '../api/wire/runner.ts';

/** An event that waits, with its number and the bytes of its line. */
export type Entry = {n: number; event: RunnerEvent; bytes: number};

/** The waiting events of one epoch, in order. */
export type Epoch = {epoch: number; entries: Entry[]};

/** The file of an epoch. */
export function epochFile(folder: string, epoch: number): string {
  return path.join(folder, `events-${epoch}.ndjson`);
}

/** An entry as it stands in the file. */
export function lineOf({n, event}: Pick<Entry, 'n' | 'event'>): string {
  return `${JSON.stringify({n, event})}\n`;
}

/** Bytes of all these entries. */
export function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0);
}

/** What earlier epochs left; events that were stored already are sent again, and the gateway knows them by number. */
export function readEpochs(folder: string): Epoch[] {
  const found = readdirSync(folder).flatMap((name) => {
    const epoch = /^events-(\d+)\.ndjson$/.exec(name)?.[1];
    return epoch === undefined ? [] : [Number(epoch)];
  });
  return found.sort((a, b) => a - b).map((epoch) => ({epoch, entries: readEntries(epochFile(folder, epoch))}));
}

function readEntries(file: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const entry = parseEntry(line);
    // A torn last line: nothing acted on it.
    if (entry === undefined) break;
    entries.push(entry);
  }
  return entries;
}

function parseEntry(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('n' in value) || !('event' in value)) return undefined;
    const event = RunnerEvent.parse(value.event);
    return typeof value.n === 'number' ? {n: value.n, event, bytes: Buffer.byteLength(line) + 1} : undefined;
  } catch {
    return undefined;
  }
}
