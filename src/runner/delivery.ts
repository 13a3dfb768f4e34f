import {setTimeout as delay} from 'node:timers/promises';
import type {RefusedRequest} from '../api/wire/runner.ts';
import {lossNote, standIn} from '../domain/runner/stand-in.ts';
import {backoff} from '../domain/runner/verdict.ts';
import {type GatewayClient, GatewayRefused} from './gateway-client.ts';
import type {Batch, Journal} from './journal.ts';
import type {Log} from './loopback/ports.ts';

/** Events of a batch while nothing is suspected. */
const MOST = 256;
/** Refusals in a row before an event is taken for one that is refused for good: gateways that are replaced one by one may differ for half a minute. */
const PATIENT = 12;
/** Refusals in a row, of stand-ins too, before this runner is taken for one that the gateway does not understand: some 5 minutes. */
const HOPELESS = 84;

/** What delivery works with. */
export type DeliveryParts = {
  podUid: string;
  journal: Journal;
  gateway: Pick<GatewayClient, 'post'>;
  log: Log;
  /** There is no Question for these requests. */
  refused(requests: readonly RefusedRequest[]): void;
  /** Raises the epoch of this runner for good, and returns it. */
  nextEpoch(): number;
  now(): Date;
  /** Waits that long; the timer of the process unless a test has its own. */
  pause?(milliseconds: number, signal: AbortSignal): Promise<void>;
};

/**
 * Brings the journal to the gateway, in order; nothing leaves the journal before it is acknowledged. A gateway that has no
 * answer is waited for without end. What it refuses for good is replaced by a note that it takes.
 */
export class Delivery {
  private readonly parts: DeliveryParts;
  private readonly stopping = new AbortController();
  private readonly stopped = new Promise<void>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(), {once: true});
  });
  private failures = 0;
  private refusals = 0;
  /** Events of the next batch: one while the event that is refused is looked for, then twice as many with each success. */
  private most = MOST;
  /** The last event that got a stand-in, as `<epoch>/<number>`. */
  private replaced = '';

  constructor(parts: DeliveryParts) {
    this.parts = parts;
  }

  /** Runs until `stop`; resolves with `fenced` when this pod may not report any more, with `refused` when nothing of it is taken. */
  async run(): Promise<'stopped' | 'fenced' | 'refused'> {
    const {journal} = this.parts;
    while (!this.stopping.signal.aborted) {
      const batch = journal.batch(this.most);
      if (batch === undefined) {
        await Promise.race([journal.changed(), this.stopped]);
        continue;
      }
      try {
        const {acked, refused = []} = await this.parts.gateway.post({podUid: this.parts.podUid, ...batch});
        journal.acknowledge(batch.epoch, acked);
        this.parts.refused(refused);
        this.failures = 0;
        this.refusals = 0;
        this.most = Math.min(2 * this.most, MOST);
      } catch (error) {
        const end = await this.failed(batch, error);
        if (end !== undefined) return end;
      }
    }
    return 'stopped';
  }

  /** Resolves when everything is stored, or after `limit` milliseconds. */
  async flush(limit: number): Promise<void> {
    const {journal} = this.parts;
    const late = AbortSignal.timeout(limit);
    while (!journal.isEmpty() && !late.aborted) {
      await Promise.race([
        journal.changed(),
        new Promise((resolve) => late.addEventListener('abort', resolve, {once: true})),
      ]);
    }
  }

  stop(): void {
    this.stopping.abort();
  }

  private async failed(batch: Batch, error: unknown): Promise<'fenced' | 'refused' | undefined> {
    const message = error instanceof Error ? error.message : String(error);
    const refused = error instanceof GatewayRefused ? error : undefined;
    if (refused?.verdict === 'fenced') return 'fenced';
    this.failures += 1;
    if (this.failures === 1 || this.failures % 20 === 0) {
      this.parts.log.warn({failures: this.failures, message}, 'events wait for the gateway');
    }
    if (refused?.acked !== undefined && refused.acked + 1 < batch.from) this.beginAnew(batch, refused.acked);
    else if (refused?.verdict === 'refused') {
      this.refusals += 1;
      if (this.refusals >= HOPELESS) return 'refused';
      // What was found to be the cause is sent at once in its new form, and waits only if that is refused too.
      if (this.suspect(batch, message)) return undefined;
    }
    await this.pause(backoff(this.failures, Math.random()));
    return undefined;
  }

  /** The archive has less than it had: all that is still here goes there under new numbers. */
  private beginAnew({epoch, from}: Batch, acked: number): void {
    const {journal, log, nextEpoch, now} = this.parts;
    const loss = {epoch, acked, from};
    log.error(loss, 'the archive lost events that it had stored; the transcript will say so');
    journal.beginAnew(nextEpoch(), lossNote(loss, now().toISOString()));
  }

  /** Looks for the one event that is refused, and replaces it; false when there is nothing to try but the same again. */
  private suspect({epoch, from, events}: Batch, why: string): boolean {
    // Once one was found, the next ones are not waited for: they may be many of a kind.
    if (this.refusals < PATIENT && this.most === MOST) return false;
    const [event] = events;
    if (events.length > 1 || event === undefined) {
      this.most = 1;
      return true;
    }
    const place = `${epoch}/${from}`;
    if (this.replaced === place) return false;
    this.replaced = place;
    const {journal, log, now, refused} = this.parts;
    log.error({event: event.type, epoch, n: from, why}, 'the gateway refuses an event; a note takes its place');
    journal.replace(epoch, from, standIn(event, why, now().toISOString()));
    if (event.type === 'question') refused([{requestId: event.requestId, why}]);
    return true;
  }

  private async pause(milliseconds: number): Promise<void> {
    const {signal} = this.stopping;
    if (this.parts.pause !== undefined) return this.parts.pause(milliseconds, signal);
    await delay(milliseconds, undefined, {signal}).catch(() => {});
  }
}
