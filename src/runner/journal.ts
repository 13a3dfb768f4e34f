import {closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync} from 'node:fs';
import path from 'node:path';
import {RunnerEvent} from '../api/wire/runner.ts';

/** Bytes of one batch, as JSON: the gateway takes bodies of 1 MiB. */
const BATCH_BYTES = 524_288;
const BATCH_EVENTS = 256;
/** Bytes that may wait for the gateway; beyond it the agent's output is held back. */
const ROOM = 4_194_304;

/** Events of one epoch that wait. */
export type Batch = {epoch: number; from: number; events: RunnerEvent[]};

/** Bytes of stored events that a file may still hold, and of waiting ones up to which it is written anew. */
const STALE = 2_097_152;
/** Bytes of all files: what comes in one burst beyond it is kept in memory only, for the volume holds the state too. */
const MAX_FILES = 10_485_760;

type Entry = {n: number; event: RunnerEvent; bytes: number};
type Epoch = {epoch: number; entries: Entry[]};

/**
 * Events in the runner's tmpfs until the gateway has them: written before anything acts on them, so that a killed runner
 * loses none. A file for each epoch, a line for each event; the file of the present epoch starts anew when all is sent.
 */
export class Journal {
  private readonly folder: string;
  private readonly epochs: Epoch[];
  private readonly present: Epoch;
  private next = 1;
  private waiting = 0;
  private file: number;
  private written = 0;
  /** Bytes of the files of earlier epochs. */
  private earlier = 0;
  private wake: (() => void)[] = [];

  constructor(folder: string, epoch: number) {
    this.folder = folder;
    this.epochs = readEpochs(folder);
    this.present = {epoch, entries: []};
    this.epochs.push(this.present);
    this.waiting = this.epochs.flatMap((e) => e.entries).reduce((sum, entry) => sum + entry.bytes, 0);
    this.earlier = this.waiting;
    this.file = openSync(this.path(epoch), 'a', 0o600);
  }

  append(event: RunnerEvent): void {
    const line = Buffer.from(lineOf({n: this.next, event}));
    this.write(line);
    this.present.entries.push({n: this.next, event, bytes: line.length});
    this.next += 1;
    this.waiting += line.length;
    this.notify();
  }

  /** The oldest events that are not stored yet. */
  batch(): Batch | undefined {
    const first = this.epochs.find((e) => e.entries.length > 0);
    const from = first?.entries[0]?.n;
    if (first === undefined || from === undefined) return undefined;
    const events: RunnerEvent[] = [];
    let bytes = 0;
    for (const entry of first.entries.slice(0, BATCH_EVENTS)) {
      bytes += entry.bytes;
      if (events.length > 0 && bytes > BATCH_BYTES) break;
      events.push(entry.event);
    }
    return {epoch: first.epoch, from, events};
  }

  /** Everything up to `n` of that epoch is stored for good. */
  acknowledge(epoch: number, n: number): void {
    for (const each of this.epochs.filter((e) => e.epoch === epoch)) {
      const stored = each.entries.filter((entry) => entry.n <= n);
      each.entries = each.entries.slice(stored.length);
      this.waiting -= stored.reduce((sum, entry) => sum + entry.bytes, 0);
      this.compact(each);
    }
    this.notify();
  }

  /** Resolves when the journal can take more of the agent's output. */
  async room(): Promise<void> {
    while (this.waiting > ROOM) await this.changed();
  }

  isEmpty(): boolean {
    return this.epochs.every((e) => e.entries.length === 0);
  }

  /** Resolves at the next append or acknowledgement. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.wake.push(resolve));
  }

  /** Frees the memory of what is stored: an earlier epoch's file when it is done with, else by writing the rest anew. */
  private compact(of: Epoch): void {
    if (of !== this.present) {
      if (of.entries.length > 0) return;
      rmSync(this.path(of.epoch), {force: true});
      this.epochs.splice(this.epochs.indexOf(of), 1);
      if (this.epochs.length === 1) this.earlier = 0;
      return;
    }
    const kept = of.entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (this.written - kept < STALE || kept > STALE) return;
    const path = this.path(of.epoch);
    writeFileSync(`${path}.new`, of.entries.map(lineOf).join(''), {mode: 0o600});
    renameSync(`${path}.new`, path);
    closeSync(this.file);
    this.file = openSync(path, 'a', 0o600);
    this.written = kept;
  }

  // A full volume must not end the runner: the event is still sent from memory, and the file is written anew once the
  // gateway has taken some.
  private write(line: Buffer): void {
    if (this.earlier + this.written + line.length > MAX_FILES) {
      this.written = Number.POSITIVE_INFINITY;
      return;
    }
    try {
      if (writeSync(this.file, line) === line.length) this.written += line.length;
      else this.written = Number.POSITIVE_INFINITY;
    } catch {
      this.written = Number.POSITIVE_INFINITY;
    }
  }

  private notify(): void {
    const wake = this.wake;
    this.wake = [];
    for (const resolve of wake) resolve();
  }

  private path(epoch: number): string {
    return path.join(this.folder, `events-${epoch}.ndjson`);
  }
}

/** What earlier epochs left; events that were stored already are sent again, and the gateway knows them by number. */
function readEpochs(folder: string): Epoch[] {
  const found = readdirSync(folder).flatMap((name) => {
    const epoch = /^events-(\d+)\.ndjson$/.exec(name)?.[1];
    return epoch === undefined ? [] : [Number(epoch)];
  });
  return found
    .sort((a, b) => a - b)
    .map((epoch) => ({epoch, entries: readEntries(path.join(folder, `events-${epoch}.ndjson`))}));
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

function lineOf({n, event}: Pick<Entry, 'n' | 'event'>): string {
  return `${JSON.stringify({n, event})}\n`;
}
