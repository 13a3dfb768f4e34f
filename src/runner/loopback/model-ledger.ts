import type {Failure} from '../../domain/model/failure.ts';
import type {Usage} from '../../domain/model/usage.ts';
import type {ModelError, ModelUsage} from './ports.ts';

/** Models whose failures are remembered; an agent can name as many as it likes. */
const MAX_MODELS = 32;

/**
 * What the model calls cost and how they ended. A failure is made good by a later success of the same model only:
 * agents ask a second, small model for titles, and its success says nothing about the call that failed the turn.
 */
export class ModelLedger {
  private readonly total: ModelUsage = {inputTokens: 0, outputTokens: 0, requests: 0};
  private readonly errors = new Map<string, ModelError>();

  /** A call that asks for output is about to be sent upstream. */
  started(): void {
    this.total.requests += 1;
  }

  /** A call ended with these tokens, and well or with a failure. */
  ended(model: string, usage: Usage, failure: (Failure & {at: number}) | undefined): void {
    this.total.inputTokens += usage.inputTokens;
    this.total.outputTokens += usage.outputTokens;
    this.errors.delete(model);
    if (!failure) return;
    const [oldest] = this.errors.keys();
    if (this.errors.size >= MAX_MODELS && oldest !== undefined) this.errors.delete(oldest);
    this.errors.set(model, failure);
  }

  usage(): ModelUsage {
    return {...this.total};
  }

  /** The latest failure that was not made good. */
  lastError(): ModelError | undefined {
    return [...this.errors.values()].at(-1);
  }
}
