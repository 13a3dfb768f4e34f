import {setTimeout as delay} from 'node:timers/promises';
import type {CheckIsolation, Endpoint, IsolationVerdict, Log} from './loopback/ports.ts';

/** Milliseconds. */
const EVERY = {open: 50, failed: 1_000, confirmed: 60_000} as const;
const PROBE = 1_000;
/** After this long without a confirmation it is reported. */
const LIMIT = 10_000;

/** An address that the policy allows, and the port beside it that no policy allows. */
export type Canary = {allowed: Endpoint; canary: Endpoint};

/** What the watch tells. */
export type IsolationEvents = {
  confirmed(): void;
  /** Not confirmed within 10 s, or open later. */
  failed(verdict: 'open' | 'unreachable', message: string): void;
};

/** Asks until the policy holds, then once a minute for as long as the pod lives. */
export class IsolationWatch {
  private readonly canaries: readonly Canary[];
  private readonly check: CheckIsolation;
  private readonly events: IsolationEvents;
  private readonly log: Log;
  private readonly stopping = new AbortController();

  constructor(options: {canaries: readonly Canary[]; check: CheckIsolation; events: IsolationEvents; log: Log}) {
    this.canaries = options.canaries;
    this.check = options.check;
    this.events = options.events;
    this.log = options.log;
  }

  async run(): Promise<void> {
    const startedAt = performance.now();
    let state: 'asking' | 'failed' | 'confirmed' = 'asking';
    while (!this.stopping.signal.aborted) {
      const verdict = await this.probe();
      if (verdict === 'closed' && state !== 'confirmed') {
        state = 'confirmed';
        this.log.info({ms: Math.round(performance.now() - startedAt)}, 'the network policy holds');
        this.events.confirmed();
      } else if (verdict === 'open' && state === 'confirmed') {
        state = 'failed';
        this.events.failed(
          'open',
          'a port that no policy allows can be reached: the NetworkPolicy was lost while the agent ran',
        );
      } else if (verdict !== 'closed' && state === 'asking' && performance.now() - startedAt > LIMIT) {
        state = 'failed';
        this.events.failed(verdict, explain(verdict));
      }
      const pause = state === 'asking' ? EVERY.open : EVERY[state];
      await delay(pause, undefined, {signal: this.stopping.signal}).catch(() => {});
    }
  }

  stop(): void {
    this.stopping.abort();
  }

  /** The worst of all canaries: what cannot be reached proves nothing. */
  private async probe(): Promise<IsolationVerdict> {
    const verdicts = await Promise.all(this.canaries.map((canary) => this.check({...canary, timeoutMs: PROBE})));
    if (verdicts.includes('open')) return 'open';
    return verdicts.includes('unreachable') ? 'unreachable' : 'closed';
  }
}

function explain(verdict: IsolationVerdict): string {
  return verdict === 'open'
    ? 'a port that no policy allows could be reached for 10 s: is a NetworkPolicy plugin running?'
    : 'the gateway or the egress relay could not be reached for 10 s, so nothing proves that the policy holds';
}
