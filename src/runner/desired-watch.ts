import {setTimeout as delay} from 'node:timers/promises';
import type {Desired} from '../api/wire/runner.ts';
import {backoff} from '../domain/runner/verdict.ts';
import {type GatewayClient, GatewayRefused} from './gateway-client.ts';
import type {Log} from './loopback/ports.ts';

/** Longest pause in milliseconds while the pod is not bound to its Session yet: the start of an agent waits for it. */
const EARLY = 200;

/** Watches the desired document of this pod. */
export class DesiredWatch {
  private readonly podUid: string;
  private readonly gateway: GatewayClient;
  private readonly log: Log;
  private readonly onChange: (desired: Desired, first: boolean) => void;
  private readonly onEnd: () => void;
  private readonly stopping = new AbortController();

  /** `first`: of its stream to say which questions wait. `onEnd`: no stream is open, until there is a document again. */
  constructor(options: {
    podUid: string;
    gateway: GatewayClient;
    log: Log;
    onChange: (desired: Desired, first: boolean) => void;
    onEnd: () => void;
  }) {
    this.podUid = options.podUid;
    this.gateway = options.gateway;
    this.log = options.log;
    this.onChange = options.onChange;
    this.onEnd = options.onEnd;
  }

  /** Runs until `stop`, over any number of connections; resolves with `fenced` when this pod is not wanted any more. */
  async run(): Promise<'stopped' | 'fenced'> {
    let failures = 0;
    const {signal} = this.stopping;
    while (!signal.aborted) {
      let early = false;
      try {
        // Numbers are those of one stream: another replica may have seen less, or count from elsewhere. Its first document
        // is taken as it is; the same turn is never taken twice, and a stop names its turn.
        let generation = 0;
        let first = true;
        for await (const line of this.gateway.desired(signal)) {
          failures = 0;
          if ('ping' in line || line.generation < generation) continue;
          generation = line.generation;
          this.take(line, first);
          first &&= line.questions === undefined;
        }
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof GatewayRefused && error.verdict === 'fenced') return 'fenced';
        failures += 1;
        const message = error instanceof Error ? error.message : String(error);
        // 425 is the rule at a start: the controller has not written the pod into its Session yet.
        early = error instanceof GatewayRefused && error.status === 425;
        if (!early && (failures === 1 || failures % 20 === 0)) this.log.warn({failures, message}, 'no desired stream');
      }
      this.onEnd();
      const pause = Math.min(backoff(failures, Math.random()), early ? EARLY : Number.POSITIVE_INFINITY);
      await delay(pause, undefined, {signal}).catch(() => {});
    }
    return 'stopped';
  }

  stop(): void {
    this.stopping.abort();
  }

  private take(desired: Desired, first: boolean): void {
    if (desired.podUid !== this.podUid) {
      this.log.warn({podUid: desired.podUid}, 'a document for another pod was ignored');
      return;
    }
    this.onChange(desired, first);
  }
}
