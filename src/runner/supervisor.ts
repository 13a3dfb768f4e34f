import type {Desired} from '../api/wire/runner.ts';
import {head} from '../domain/runner/clean.ts';
import {nextStep} from '../domain/runner/next-step.ts';
import type {TurnCode} from '../domain/turn/codes.ts';
import {AgentLife, type LifeTools} from './agent-life.ts';
import {composeTurn} from './compose-turn.ts';
import type {GatewayClient} from './gateway-client.ts';
import {type OrderedTurn, TurnRun} from './turn-run.ts';

/** Milliseconds between looks while something has to be confirmed. */
const LOOK = 1_000;

/** What the supervisor works with. */
export type SupervisorTools = LifeTools & {
  gateway: Pick<GatewayClient, 'context'>;
  /** The agent has been ended because nothing is wanted of this pod any more. */
  left(): void;
};

/**
 * Keeps the agent as the desired document says: level-triggered, so `look` may be called at any time and as often as
 * something may have changed.
 */
export class Supervisor {
  private readonly tools: SupervisorTools;
  private readonly life: AgentLife;
  private desired: Desired | undefined;
  private isolation = false;
  private turn: TurnRun | undefined;
  private absentSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(tools: SupervisorTools) {
    this.tools = tools;
    this.life = new AgentLife(tools, {
      changed: () => this.look(),
      ended: (result) => this.turn?.end(result),
    });
  }

  /** `first`: of its stream to say which questions wait. */
  want(desired: Desired, first: boolean): void {
    this.desired = desired;
    this.look();
    // Here and not at each look: a document from before a question was stored says nothing about it.
    this.tools.questions.compare(desired, first);
  }

  /** The network policy holds: the agent may run. */
  isolated(): void {
    this.isolation = true;
    this.life.mend();
    this.look();
  }

  /** `open`: the policy does not hold, and the agent is ended; else nothing proves it yet, and the start waits. */
  notIsolated(open: boolean, message: string): void {
    const reason = 'NetworkNotIsolated';
    if (!open) {
      const findings = [{type: reason, reason, message}];
      this.tools.reporter.report({state: 'Starting', reason, message, findings});
      return;
    }
    this.isolation = false;
    // Before the cut, so that the turn is told the cause and not just its effect, the end of the agent.
    this.turn?.end({kind: 'notIsolated', message});
    this.life.fail({state: 'Failed', reason, message}, reason);
    this.tools.link.cut();
  }

  shimLost(why: 'closed' | 'silent' | 'protocol'): void {
    this.life.shimLost(why);
    this.look();
  }

  /** The agent's container is being ended: what ends now is not started again. */
  shimTerminating(): void {
    this.life.shimTerminating();
  }

  /** Compares and acts. */
  look(): void {
    const {desired, life} = this;
    if (desired === undefined || life.phase === 'left') return;
    this.tools.questions.answer(desired.answers);
    const wanted = desired.desired === 'Run' || desired.turn !== undefined;
    if (wanted && this.isolation && life.canStart) void life.start(desired.resume?.agentSessionId);
    const current = this.turn && {
      uid: this.turn.turn.uid,
      interrupting: this.turn.interrupting,
      ...(this.absentSince === undefined ? {} : {absentSince: this.absentSince}),
    };
    const taken = new Set(this.tools.state.get().taken);
    const doing = {taken, ready: life.phase === 'ready', failed: life.phase === 'failed', ...(current && {current})};
    const step = nextStep(desired, doing, this.tools.now());
    this.absentSince = step.do === 'confirm' ? step.since : undefined;
    switch (step.do) {
      case 'nothing':
        return;
      case 'confirm':
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.look(), LOOK);
        return;
      case 'interrupt':
        this.turn?.interrupt({by: 'request'});
        return;
      case 'refuse':
        this.refuse(step.turn, step.why);
        return;
      case 'take':
        void this.take(step.turn).catch((error: unknown) => this.takeFailed(step.turn, error));
        return;
      case 'leave':
        // A start is bounded, and looks again at its end.
        if (life.phase !== 'starting') void life.leave().then(() => this.tools.left());
        return;
    }
  }

  private async take(turn: OrderedTurn): Promise<void> {
    const {tools, life} = this;
    const {agent} = life;
    if (agent === undefined) return;
    const run = new TurnRun(turn, {
      acp: agent.acp,
      sessionId: agent.sessionId,
      reporter: tools.reporter,
      loopback: tools.loopback,
      limit: tools.launch.limits.turn,
      withdraw: () => tools.questions.withdrawAll(),
      kill: () => life.reload(),
    });
    this.turn = run;
    // Before anything reaches the agent: a runner that is killed now never gives it the same turn again.
    const {uid, name} = turn;
    tools.state.update((saved) => ({...saved, taken: [...saved.taken, uid], inFlight: {uid, name}}));
    agent.listener.turn = run;
    const blocks = await composeTurn(turn, agent, {...tools, goal: this.desired?.session.goal});
    tools.state.update((saved) => ({...saved, instructed: agent.sessionId}));
    // Stopped while the prompt was composed: the agent never sees it.
    if (run.interrupting) tools.reporter.event(run.cancelled());
    else tools.reporter.event(await run.run(blocks));
    agent.listener.turn = undefined;
    tools.state.update(({inFlight: _ended, ...saved}) => ({...saved, questions: []}));
    this.turn = undefined;
    this.look();
  }

  /** A fault of ours must not leave the turn open, or no later one would be taken. */
  private takeFailed(turn: OrderedTurn, error: unknown): void {
    const {reporter, log} = this.tools;
    log.error({turn: turn.name, message: error instanceof Error ? error.stack : String(error)}, 'a turn failed here');
    const message = 'the runner failed while the agent worked on the turn; look at what it did before asking again';
    const end = {
      phase: 'Failed' as const,
      error: {code: 'outcome_unknown' satisfies TurnCode, message},
      finishedAt: reporter.time(),
    };
    reporter.event({type: 'turnFinished', turnUid: turn.uid, turnName: turn.name, ...end});
    this.turn = undefined;
    // It may be in the middle of the prompt: the next turn gets a new process.
    if (this.life.agent !== undefined) this.life.agent.listener.turn = undefined;
    this.life.reload();
    this.look();
  }

  private refuse(turn: OrderedTurn, why: 'stopped' | 'failed'): void {
    const {reporter, state} = this.tools;
    state.update((saved) => ({...saved, taken: [...saved.taken, turn.uid]}));
    const message = head(`the agent cannot be started: ${this.life.failure}`, 1024);
    const error = {code: 'agent_not_started' satisfies TurnCode, message};
    const end = why === 'stopped' ? {phase: 'Cancelled' as const} : {phase: 'Failed' as const, error};
    const of = {turnUid: turn.uid, turnName: turn.name};
    reporter.event({type: 'turnFinished', ...of, ...end, finishedAt: reporter.time()});
  }
}
