import {setTimeout as delay} from 'node:timers/promises';
import {backoff} from '../domain/runner/verdict.ts';
import {type GatewayClient, GatewayRefused} from './gateway-client.ts';
import type {Journal} from './journal.ts';
import type {Log} from './loopback/ports.ts';

/** Brings the journal to the gateway, in order and without end; nothing leaves the journal before it is acknowledged. */
export class Delivery {
  private readonly podUid: string;
  private readonly journal: Journal;
  private readonly gateway: GatewayClient;
  private readonly log: Log;
  private readonly stopping = new AbortController();
  private readonly stopped = new Promise<void>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(), {once: true});
  });

  constructor(options: {podUid: string; journal: Journal; gateway: GatewayClient; log: Log}) {
    this.podUid = options.podUid;
    this.journal = options.journal;
    this.gateway = options.gateway;
    this.log = options.log;
  }

  /** Runs until `stop`; resolves with `fenced` when this pod may not report any more. */
  async run(): Promise<'stopped' | 'fenced'> {
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      const batch = this.journal.batch();
      if (batch === undefined) {
        await Promise.race([this.journal.changed(), this.stopped]);
        continue;
      }
      try {
        this.journal.acknowledge(batch.epoch, await this.gateway.post({podUid: this.podUid, ...batch}));
        failures = 0;
      } catch (error) {
        if (error instanceof GatewayRefused && error.verdict === 'fenced') return 'fenced';
        failures += 1;
        const message = error instanceof Error ? error.message : String(error);
        if (failures === 1 || failures % 20 === 0) this.log.warn({failures, message}, 'events wait for the gateway');
        await delay(backoff(failures, Math.random()), undefined, {signal: this.stopping.signal}).catch(() => {});
      }
    }
    return 'stopped';
  }

  /** Resolves when everything is stored, or after `limit` milliseconds. */
  async flush(limit: number): Promise<void> {
    const late = AbortSignal.timeout(limit);
    while (!this.journal.isEmpty() && !late.aborted) {
      await Promise.race([
        this.journal.changed(),
        new Promise((resolve) => late.addEventListener('abort', resolve, {once: true})),
      ]);
    }
  }

  stop(): void {
    this.stopping.abort();
  }
}
