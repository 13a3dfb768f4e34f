import type {ServerResponse} from 'node:http';
import type {Desired, DesiredLine} from '../../api/wire/runner.ts';
import type {Clock} from '../../kube/clock.ts';
import type {DesiredView} from './desired.ts';
import type {TurnInput} from './turn-input.ts';

/** What a stream asks for each document. */
export interface StreamSource {
  /** Undefined: the pod is not the Session's any more, or another replica has to be asked. */
  view(delivered: string | undefined): DesiredView | undefined;
  /** The prompt, read live; throws when there is no answer. */
  input(turn: NonNullable<DesiredView['turn']>): Promise<TurnInput>;
  /** Ends a turn whose prompt can never be delivered; throws when that could not be stored. */
  giveUp(turn: NonNullable<DesiredView['turn']>, why: {code: string; message: string}): Promise<void>;
  problem(error: unknown): void;
}

const PING_MS = 25_000;
const RETRY_MS = 1_000;
/** A reader that takes nothing for so long is gone. */
const STALLED_MS = 60_000;

/**
 * One open stream of desired documents. Level-triggered: changes that come while a document is being made, or while the
 * reader is slow, fall together into the next one.
 *
 *   idle --notify--> making --> written --> idle        making --no answer--> again after 1 s
 *   any  --not the pod any more, no view, reader gone, drained--> closed
 */
export class DesiredStream {
  readonly #response: ServerResponse;
  readonly #source: StreamSource;
  readonly #clock: Clock;
  #dirty = false;
  #making = false;
  #blocked = false;
  #closed = false;
  /** A ping is due, unless a document goes out before. */
  #due = false;
  #last = '';
  #generation = 0;
  #held: {readonly uid: string; readonly parts: readonly {readonly text: string}[]} | undefined;
  #timers = new Set<() => void>();

  constructor(response: ServerResponse, source: StreamSource, clock: Clock) {
    this.#response = response;
    this.#source = source;
    this.#clock = clock;
    // The next one may be for another replica, where this connection would not lead.
    const headers = {'content-type': 'application/x-ndjson', 'cache-control': 'no-store', connection: 'close'};
    response.writeHead(200, headers);
    response.on('close', () => this.close());
    response.on('drain', () => {
      this.#blocked = false;
      this.notify();
    });
    this.#ping();
    this.notify();
  }

  /** Something changed that may change the document. */
  notify(): void {
    this.#dirty = true;
    if (!this.#making && !this.#closed) void this.#make();
  }

  /** End the stream cleanly; the runner connects again, elsewhere or with a new token. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const cancel of this.#timers) cancel();
    this.#response.end();
  }

  get closed(): boolean {
    return this.#closed;
  }

  async #make(): Promise<void> {
    this.#making = true;
    try {
      while (this.#dirty && !this.#blocked && !this.#closed) {
        this.#dirty = false;
        await this.#emit();
      }
      this.#confirm();
    } catch (error) {
      this.#source.problem(error);
      this.#after(RETRY_MS, () => this.notify());
    } finally {
      this.#making = false;
    }
  }

  async #emit(): Promise<void> {
    const view = this.#source.view(this.#held?.uid);
    if (view === undefined) return this.close();
    const turn = await this.#turnOf(view);
    // The prompt took a while to read: what else changed meanwhile makes the next document.
    if (this.#closed) return;
    const document = {...view.document, ...(turn === undefined ? {} : {turn})};
    const text = JSON.stringify(document);
    if (text === this.#last) return;
    this.#last = text;
    this.#generation = Math.max(this.#generation + 1, view.version);
    this.#write({...document, generation: this.#generation});
  }

  async #turnOf({turn}: DesiredView): Promise<Desired['turn']> {
    if (turn === undefined) return undefined;
    const {metadata, spec, status} = turn.object;
    if (this.#held?.uid !== metadata.uid) {
      const input = await this.#source.input(turn);
      if (input.kind === 'broken') await this.#source.giveUp(turn, input);
      if (input.kind !== 'read') return undefined;
      this.#held = {uid: metadata.uid, parts: input.parts};
    }
    const author = spec.author?.name;
    return {
      name: metadata.name,
      uid: metadata.uid,
      sequence: status?.sequence ?? 0,
      ...(author === undefined ? {} : {author}),
      input: [...this.#held.parts],
      preface: turn.preface,
    };
  }

  // Only after a look at what holds now: nothing tells of a watch that was lost, and what the look brings goes out instead.
  #confirm(): void {
    if (this.#due && !this.#blocked && !this.#closed) this.#write({ping: true});
  }

  #write(line: DesiredLine): void {
    this.#due = false;
    if (this.#response.write(`${JSON.stringify(line)}\n`)) return;
    this.#blocked = true;
    this.#after(STALLED_MS, () => {
      if (this.#blocked) this.#response.destroy();
    });
  }

  #ping(): void {
    this.#after(PING_MS, () => {
      this.#due = true;
      this.notify();
      this.#ping();
    });
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#timers.delete(cancel);
      if (!this.#closed) run();
    });
    this.#timers.add(cancel);
  }
}
