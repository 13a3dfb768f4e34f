import {setTimeout as delay} from 'node:timers/promises';
import type {Desired} from '../api/wire/runner.ts';
import {cleanText, head} from '../domain/runner/clean.ts';
import {type AgentUpdate, UpdateMerger} from '../domain/runner/merge.ts';
import {type Finished, type TurnEvidence, type TurnResult, turnOutcome} from '../domain/runner/outcome.ts';
import type {AcpConnection} from './acp.ts';
import {agentError} from './agent-refused.ts';
import type {Loopback} from './loopback/ports.ts';
import type {AskingTurn} from './questions.ts';
import type {RecordTurn, Reporter} from './reporter.ts';

/** Milliseconds. */
const WAIT = {
  /** Some agents send updates after they answered. */
  trailing: 300,
  /** An agent that was asked to stop and has not is killed. */
  cancel: 10_000,
  /** Open text is written at least so often, for those who watch. */
  flush: 2_000,
} as const;

/** A turn as the gateway ordered it. */
export type OrderedTurn = NonNullable<Desired['turn']>;

/** What a turn is run with. */
export type TurnTools = {
  acp: AcpConnection;
  sessionId: string;
  reporter: Reporter;
  loopback: Pick<Loopback, 'modelUsage' | 'lastModelError'>;
  /** Seconds. */
  limit: number;
  /** Everything that waits for a person is answered `cancelled`. */
  withdraw(): void;
  /** The agent did not stop. */
  kill(): void;
};

/** One turn from its prompt to its outcome. */
export class TurnRun {
  readonly turn: OrderedTurn;
  readonly merger = new UpdateMerger();
  private readonly tools: TurnTools;
  private readonly record: RecordTurn;
  private readonly ended = Promise.withResolvers<TurnResult>();
  private interruption: TurnEvidence['interrupt'];
  private timers: NodeJS.Timeout[] = [];

  constructor(turn: OrderedTurn, tools: TurnTools) {
    this.turn = turn;
    this.tools = tools;
    this.record = {uid: turn.uid, sequence: turn.sequence};
  }

  get asking(): AskingTurn {
    return {uid: this.turn.uid, name: this.turn.name, record: this.record};
  }

  get interrupting(): boolean {
    return this.interruption !== undefined;
  }

  /** Runs the turn; resolves with its end, which is not reported yet. */
  async run(blocks: readonly string[]): Promise<Finished> {
    const {reporter, loopback, limit} = this.tools;
    const startedAt = Date.parse(reporter.time());
    const usageBefore = loopback.modelUsage();
    const data = {name: this.turn.name, ...(this.turn.author === undefined ? {} : {author: this.turn.author})};
    reporter.record({kind: 'turn_started', data}, this.record);
    for (const part of this.turn.input) reporter.record({kind: 'prompt', text: part.text}, this.record);
    this.timers = [
      setTimeout(() => this.interrupt({by: 'limit', seconds: limit}), limit * 1_000),
      setInterval(() => this.write(this.merger.flush(true)), WAIT.flush),
    ];
    const result = await Promise.race([this.ask(blocks), this.ended.promise]);
    if (result.kind === 'answered') await Promise.race([delay(WAIT.trailing), this.ended.promise]);
    for (const timer of this.timers) clearTimeout(timer);
    this.tools.withdraw();
    this.write(this.merger.end());
    return this.finish(result, {startedAt, usageBefore});
  }

  /** The end of a turn that was stopped before the agent was given it. */
  cancelled(): Finished {
    for (const timer of this.timers) clearTimeout(timer);
    const {uid, name} = this.turn;
    return {
      type: 'turnFinished',
      turnUid: uid,
      turnName: name,
      phase: 'Cancelled',
      finishedAt: this.tools.reporter.time(),
    };
  }

  /** Something of the agent while the turn runs. */
  update(update: AgentUpdate): void {
    this.write(this.merger.push(update));
  }

  /** Asks the agent to stop; kills it when it has not after 10 s. The first reason counts. */
  interrupt(reason: NonNullable<TurnEvidence['interrupt']>): void {
    if (this.interruption !== undefined) return;
    this.interruption = reason;
    void this.tools.acp.cancel(this.tools.sessionId);
    this.tools.withdraw();
    this.timers.push(
      setTimeout(() => {
        this.end({kind: 'killed'});
        this.tools.kill();
      }, WAIT.cancel),
    );
  }

  /** The agent is gone, or is given up. */
  end(result: TurnResult): void {
    this.ended.resolve(result);
  }

  private async ask(blocks: readonly string[]): Promise<TurnResult> {
    try {
      return {kind: 'answered', stopReason: await this.tools.acp.prompt(this.tools.sessionId, blocks)};
    } catch (error) {
      const refusal = agentError(error);
      if (refusal !== undefined) return {kind: 'refused', ...refusal, message: head(cleanText(refusal.message), 800)};
      // The connection closed: how the process ended is known a moment later.
      return await Promise.race([
        this.ended.promise,
        delay(WAIT.cancel).then((): TurnResult => ({kind: 'exited', exit: {outOfMemory: false}})),
      ]);
    }
  }

  private write(drafts: ReturnType<UpdateMerger['push']>): void {
    for (const draft of drafts) this.tools.reporter.record(draft, this.record);
  }

  private finish(
    result: TurnResult,
    since: {startedAt: number; usageBefore: ReturnType<Loopback['modelUsage']>},
  ): Finished {
    const {reporter, loopback} = this.tools;
    const lastError = loopback.lastModelError();
    const modelError = lastError !== undefined && lastError.at >= since.startedAt ? lastError : undefined;
    const outcome = turnOutcome({
      result,
      sawText: this.merger.sawText,
      sawToolCall: this.merger.sawToolCall,
      ...(this.interruption === undefined ? {} : {interrupt: this.interruption}),
      ...(modelError === undefined ? {} : {modelError}),
    });
    const usage = loopback.modelUsage();
    const response = this.merger.response(8192);
    return {
      type: 'turnFinished',
      turnUid: this.turn.uid,
      turnName: this.turn.name,
      ...outcome,
      ...(response === undefined ? {} : {response}),
      usage: {
        inputTokens: usage.inputTokens - since.usageBefore.inputTokens,
        outputTokens: usage.outputTokens - since.usageBefore.outputTokens,
        requests: usage.requests - since.usageBefore.requests,
      },
      finishedAt: reporter.time(),
    };
  }
}
