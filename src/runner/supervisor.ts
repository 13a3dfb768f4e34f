import type {Launch} from '../api/launch.ts';
import type {Desired} from '../api/wire/runner.ts';
import {head} from '../domain/runner/clean.ts';
import {describeExit, type Exit} from '../domain/runner/exit.ts';
import {nextStep} from '../domain/runner/next-step.ts';
import type {TurnResult} from '../domain/runner/outcome.ts';
import {planRestart} from '../domain/runner/restart.ts';
import {AgentNotStarted} from './agent-not-started.ts';
import {agentSaid, readyReport} from './agent-reports.ts';
import {startAgent} from './agent-start.ts';
import {composeTurn} from './compose-turn.ts';
import type {GatewayClient} from './gateway-client.ts';
import type {Journal} from './journal.ts';
import type {Log, Loopback} from './loopback/ports.ts';
import type {Questions} from './questions.ts';
import type {Report, Reporter} from './reporter.ts';
import {endAgent, type RunningAgent} from './running-agent.ts';
import type {ShimLink} from './shim-link.ts';
import type {StateFile} from './state.ts';
import {type OrderedTurn, TurnRun} from './turn-run.ts';

/** Milliseconds between looks while something has to be confirmed. */
const LOOK = 1_000;

/** What the supervisor works with. */
export type SupervisorTools = {
  launch: Launch;
  workspace: string;
  /** Command of the stdio bridge, in the agent's container. */
  bridge: readonly string[];
  link: ShimLink;
  loopback: Loopback;
  questions: Questions;
  reporter: Reporter;
  journal: Journal;
  gateway: Pick<GatewayClient, 'context'>;
  state: StateFile;
  log: Log;
  now(): number;
  /** The agent has been ended because nothing is wanted of this pod any more. */
  left(): void;
};

/**
 * Keeps the agent as the desired document says: level-triggered, so `look` may be called at any time and as often as
 * something may have changed.
 */
export class Supervisor {
  private readonly tools: SupervisorTools;
  private desired: Desired | undefined;
  private isolation = false;
  private phase: 'down' | 'starting' | 'ready' | 'ending' | 'failed' | 'left' = 'down';
  private failure = '';
  private agent: RunningAgent | undefined;
  private turn: TurnRun | undefined;
  private absentSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private restarts: readonly number[] = [];
  private everReady = false;
  /** The next end of the process is our doing. */
  private expected: 'reload' | 'leave' | undefined;
  private terminating = false;
  private silent = false;

  constructor(tools: SupervisorTools) {
    this.tools = tools;
  }

  want(desired: Desired): void {
    this.desired = desired;
    this.look();
  }

  /** The network policy holds: the agent may run. */
  isolated(): void {
    this.isolation = true;
    if (this.phase === 'failed' && !this.everReady) this.phase = 'down';
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
    this.fail({state: 'Failed', reason, message}, reason);
    this.tools.link.cut();
  }

  shimLost(why: 'closed' | 'silent' | 'protocol'): void {
    this.silent = why === 'silent';
    this.look();
  }

  /** The agent's container is being ended: what ends now is not started again. */
  shimTerminating(): void {
    this.terminating = true;
  }

  /** Compares and acts. */
  look(): void {
    const {desired} = this;
    if (desired === undefined || this.phase === 'left') return;
    this.tools.questions.answer(desired.answers);
    const wanted = desired.desired === 'Run' || desired.turn !== undefined;
    if (this.phase === 'down' && wanted && this.isolation && !this.terminating && this.tools.link.connected) {
      void this.start(desired);
    }
    const current = this.turn && {
      uid: this.turn.turn.uid,
      interrupting: this.turn.interrupting,
      ...(this.absentSince === undefined ? {} : {absentSince: this.absentSince}),
    };
    const taken = new Set(this.tools.state.get().taken);
    const doing = {taken, ready: this.phase === 'ready', failed: this.phase === 'failed', ...(current && {current})};
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
        if (this.phase !== 'starting') void this.leave();
        return;
    }
  }

  private async start(desired: Desired): Promise<void> {
    const {tools} = this;
    this.phase = 'starting';
    const finding = tools.loopback.findings()[0];
    if (finding !== undefined) return this.fail({state: 'Failed', reason: finding.reason, message: finding.message});
    // A first start is told by its end alone: each report is a write to the API.
    if (!this.everReady && tools.state.get().epoch > 1) this.reportRunnerRestart();
    const resume = tools.state.get().agentSessionId ?? desired.resume?.agentSessionId;
    const startTools = {...tools, room: () => tools.journal.room()};
    try {
      const {agent, findings} = await startAgent(startTools, resume);
      // Meanwhile the network opened: the process was cut off with its connection.
      if (this.phase !== 'starting') return agent.process.signal('SIGKILL');
      this.agent = agent;
      this.phase = 'ready';
      this.everReady = true;
      this.silent = false;
      // An agent that closes its output, or floods it with one endless message, is of no more use.
      void agent.acp.closed.then(() => agent.process.signal('SIGKILL'));
      void agent.process.exited.then((exit) => this.agentEnded(agent, exit));
      tools.state.update((saved) => ({...saved, agentSessionId: agent.sessionId}));
      tools.reporter.record({kind: 'agent_started', data: {...agentSaid(agent), conversation: agent.conversation}});
      tools.reporter.report(readyReport(agent, findings));
    } catch (error) {
      this.startFailed(error);
    }
    this.look();
  }

  private reportRunnerRestart(): void {
    const told = {reason: 'RunnerRestarting', message: 'the runner of the pod ended and was started again in place'};
    this.tools.reporter.report({state: 'Restarting', ...told, findings: [{type: 'RunnerRestarting', ...told}]});
  }

  private startFailed(error: unknown): void {
    const {tools} = this;
    const known =
      error instanceof AgentNotStarted
        ? error
        : new AgentNotStarted('StartFailed', error instanceof Error ? error.message : String(error));
    tools.log.warn({reason: known.reason, message: known.message}, 'the agent did not start');
    const exit = known.exit === undefined ? {} : {exit: known.exit};
    const findings = known.finding === undefined ? {} : {findings: [known.finding]};
    const told = {reason: known.reason, message: known.message, ...exit, ...findings};
    if (this.phase !== 'starting' || this.terminating) return;
    const {restart, counted} = planRestart(this.restarts, tools.now());
    // A first start that fails will fail again; one that worked before may work again.
    const again = this.everReady || known.reason === 'AgentUnresponsive';
    if (!again || !restart) {
      this.fail({state: 'Failed', ...told});
      return;
    }
    this.restarts = counted;
    this.phase = 'down';
    tools.reporter.report({state: 'Restarting', ...told});
  }

  private async take(turn: OrderedTurn): Promise<void> {
    const {agent, tools} = this;
    if (agent === undefined) return;
    const run = new TurnRun(turn, {
      acp: agent.acp,
      sessionId: agent.sessionId,
      reporter: tools.reporter,
      loopback: tools.loopback,
      limit: tools.launch.limits.turn,
      withdraw: () => tools.questions.withdrawAll(),
      kill: () => {
        this.expected = 'reload';
        this.phase = 'ending';
        agent.process.signal('SIGKILL');
      },
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
    const end = {phase: 'Failed' as const, error: {code: 'outcome_unknown', message}, finishedAt: reporter.time()};
    reporter.event({type: 'turnFinished', turnUid: turn.uid, turnName: turn.name, ...end});
    this.turn = undefined;
    const {agent} = this;
    if (agent !== undefined) {
      // It may be in the middle of the prompt: the next turn gets a new process.
      agent.listener.turn = undefined;
      this.expected = 'reload';
      this.phase = 'ending';
      agent.process.signal('SIGKILL');
    }
    this.look();
  }

  private refuse(turn: OrderedTurn, why: 'stopped' | 'failed'): void {
    const {reporter, state} = this.tools;
    state.update((saved) => ({...saved, taken: [...saved.taken, turn.uid]}));
    const error = {code: 'agent_not_started', message: head(`the agent cannot be started: ${this.failure}`, 1024)};
    const end = why === 'stopped' ? {phase: 'Cancelled' as const} : {phase: 'Failed' as const, error};
    const of = {turnUid: turn.uid, turnName: turn.name};
    reporter.event({type: 'turnFinished', ...of, ...end, finishedAt: reporter.time()});
  }

  private agentEnded(agent: RunningAgent, exit: Exit | undefined): void {
    if (this.agent !== agent) return;
    const {tools, expected} = this;
    this.agent = undefined;
    this.expected = undefined;
    agent.acp.close();
    const known: Exit = exit ?? {outOfMemory: false};
    tools.log.info({exit: known, expected}, 'the agent ended');
    tools.reporter.record({kind: 'agent_exited', data: {...known, ...(expected === undefined ? {} : {expected})}});
    this.turn?.end(this.turnResult(known));
    if (this.phase !== 'ready' && this.phase !== 'ending') return;
    this.phase = 'down';
    if (this.terminating || expected === 'leave') return;
    if (expected === undefined) this.planNext(known);
    this.look();
  }

  private turnResult(exit: Exit): TurnResult {
    if (this.silent) return {kind: 'unresponsive'};
    return this.terminating ? {kind: 'terminated'} : {kind: 'exited', exit};
  }

  private planNext(exit: Exit): void {
    const {reporter, now} = this.tools;
    const told = this.silent
      ? {reason: 'AgentUnresponsive', message: 'the process beside the agent gave no sign of life for 15 s'}
      : describeExit(exit);
    const findings = this.silent ? {findings: [{type: 'AgentUnresponsive', ...told}]} : {};
    const report = {reason: told.reason, message: told.message, exit, ...findings};
    const {restart, counted} = planRestart(this.restarts, now());
    this.restarts = counted;
    if (restart) {
      reporter.report({state: 'Restarting', ...report});
      return;
    }
    const message = `${told.message}, for the fourth time in 10 minutes; it is not started again`;
    this.fail({state: 'Exited', ...report, message});
  }

  private fail(report: Report, finding?: string): void {
    this.phase = 'failed';
    this.failure = report.message ?? report.reason ?? '';
    const findings = finding && {findings: [{type: finding, reason: finding, message: this.failure}]};
    this.tools.reporter.report({...report, ...findings});
    this.look();
  }

  private async leave(): Promise<void> {
    this.phase = 'left';
    this.expected = 'leave';
    if (this.agent !== undefined) await endAgent(this.agent);
    this.tools.left();
  }
}
