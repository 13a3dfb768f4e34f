import {closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync} from 'node:fs';
import type {RunnerEvent} from '../api/wire/runner.ts';
import {bytesOf, type Epoch, epochFile, lineOf, readEpochs} from './journal-file.ts';

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

/**
 * Events in the runner's tmpfs until the gateway has them: written before anything acts on them, so that a killed runner
 * loses none. A file for each epoch, a line for each event; the file of the present epoch starts anew when all is sent.
 */
export class Journal {
  private readonly folder: string;
  private epochs: Epoch[];
  private present: Epoch;
  private next = 1;
  private waiting = 0;
  private file: number;
  private written = 0;
  /** Bytes of the files of earlier epochs. */
  private earlier = 0;
  /** Epochs whose files stay until the present one holds what was in them. */
  private overtaken: number[] = [];
  private wake: (() => void)[] = [];

  constructor(folder: string, epoch: number) {
    this.folder = folder;
    this.epochs = readEpochs(folder);
    this.present = {epoch, entries: []};
    this.epochs.push(this.present);
    this.waiting = bytesOf(this.epochs.flatMap((e) => e.entries));
    this.earlier = this.waiting;
    this.file = openSync(epochFile(this.folder, epoch), 'a', 0o600);
  }

  append(event: RunnerEvent): void {
    const line = Buffer.from(lineOf({n: this.next, event}));
    this.write(line);
    this.present.entries.push({n: this.next, event, bytes: line.length});
    this.next += 1;
    this.waiting += line.length;
    this.notify();
  }

  /** The oldest events that are not stored yet, at most `most`. */
  batch(most = BATCH_EVENTS): Batch | undefined {
    const first = this.epochs.find((e) => e.entries.length > 0);
    const from = first?.entries[0]?.n;
    if (first === undefined || from === undefined) return undefined;
    const events: RunnerEvent[] = [];
    let bytes = 0;
    for (const entry of first.entries.slice(0, Math.min(most, BATCH_EVENTS))) {
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
      this.waiting -= bytesOf(stored);
      this.compact(each);
    }
    this.notify();
  }

  /**
   * Puts another event in the place of a waiting one, for as long as this process lives: what was refused once is refused
   * again after a restart, and replaced again.
   */
  replace(epoch: number, n: number, event: RunnerEvent): void {
    const entry = this.epochs.find((e) => e.epoch === epoch)?.entries.find((each) => each.n === n);
    if (entry === undefined) return;
    const bytes = Buffer.byteLength(lineOf({n, event}));
    this.waiting += bytes - entry.bytes;
    Object.assign(entry, {event, bytes});
  }

  /** Numbers all that waits anew, in a new epoch and after `first`: an archive that lost numbers takes no later ones. */
  beginAnew(epoch: number, first: RunnerEvent): void {
    const events = [first, ...this.epochs.flatMap((e) => e.entries.map((entry) => entry.event))];
    this.overtaken.push(...this.epochs.map((e) => e.epoch));
    const entries = events.map((event, index) => {
      const n = index + 1;
      return {n, event, bytes: Buffer.byteLength(lineOf({n, event}))};
    });
    this.present = {epoch, entries};
    this.epochs = [this.present];
    this.next = entries.length + 1;
    this.waiting = bytesOf(entries);
    // Nothing may be added to the file of another epoch.
    this.written = Number.POSITIVE_INFINITY;
    this.rewrite();
    this.notify();
  }

  /** Resolves when the journal can take more of the agent's output. */
  async room(): Promise<void> {
    while (this.waiting > ROOM) await this.changed();
  }

  /** True while this very event waits. */
  holds(event: RunnerEvent): boolean {
    return this.epochs.some((e) => e.entries.some((entry) => entry.event === event));
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
      rmSync(epochFile(this.folder, of.epoch), {force: true});
      this.epochs.splice(this.epochs.indexOf(of), 1);
      if (this.epochs.length === 1) this.earlier = 0;
      return;
    }
    const kept = bytesOf(of.entries);
    if (this.written - kept < STALE || kept > STALE) return;
    this.rewrite();
  }

  /** Tried again at the next acknowledgement where the volume has no room for it now. */
  private rewrite(): void {
    const path = epochFile(this.folder, this.present.epoch);
    try {
      writeFileSync(`${path}.new`, this.present.entries.map(lineOf).join(''), {mode: 0o600});
    } catch {
      rmSync(`${path}.new`, {force: true});
      return;
    }
    renameSync(`${path}.new`, path);
    closeSync(this.file);
    this.file = openSync(path, 'a', 0o600);
    this.written = bytesOf(this.present.entries);
    if (this.overtaken.length === 0) return;
    // Only now: killed before, some events are told twice, and none is lost.
    for (const each of this.overtaken.splice(0)) rmSync(epochFile(this.folder, each), {force: true});
    this.earlier = 0;
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
}
