import type {Launch} from '../api/launch.ts';
import {describeExit, type Exit} from '../domain/runner/exit.ts';
import type {TurnResult} from '../domain/runner/outcome.ts';
import {planRestart} from '../domain/runner/restart.ts';
import {AgentNotStarted} from './agent-not-started.ts';
import {agentSaid, readyReport} from './agent-reports.ts';
import {startAgent} from './agent-start.ts';
import type {Journal} from './journal.ts';
import type {Log, Loopback} from './loopback/ports.ts';
import type {Questions} from './questions.ts';
import type {Report, Reporter} from './reporter.ts';
import {discard, endAgent, type RunningAgent} from './running-agent.ts';
import type {ShimLink} from './shim-link.ts';
import type {StateFile} from './state.ts';

/** What keeping an agent alive takes. */
export type LifeTools = {
  launch: Launch;
  workspace: string;
  /** Command of the stdio bridge, in the agent's container. */
  bridge: readonly string[];
  link: Pick<ShimLink, 'start' | 'connected' | 'cut'>;
  loopback: Loopback;
  questions: Questions;
  reporter: Reporter;
  journal: Pick<Journal, 'room'>;
  state: StateFile;
  log: Log;
  now(): number;
};

/** What the life of the agent tells. */
export type LifeEvents = {
  /** Something is different: look what is to be done now. */
  changed(): void;
  /** The process ended, and with it what it was working on. */
  ended(result: TurnResult): void;
};

/** The one agent of the pod through its starts, its ends and its restarts. Whether it shall run is decided elsewhere. */
export class AgentLife {
  phase: 'down' | 'starting' | 'ready' | 'ending' | 'failed' | 'left' = 'down';
  /** Why it is failed. */
  failure = '';
  agent: RunningAgent | undefined;
  private readonly tools: LifeTools;
  private readonly events: LifeEvents;
  /** A start that was overtaken by something still has to end before the next one. */
  private startPending = false;
  private restarts: readonly number[] = [];
  private everReady = false;
  /** The next end of the process is our doing. */
  private expected: 'reload' | 'leave' | undefined;
  private terminating = false;
  private silent = false;

  constructor(tools: LifeTools, events: LifeEvents) {
    this.tools = tools;
    this.events = events;
  }

  get canStart(): boolean {
    return this.phase === 'down' && !this.startPending && !this.terminating && this.tools.link.connected;
  }

  /** Starts the agent; `resume` is the conversation that the platform knows of. */
  async start(resume: string | undefined): Promise<void> {
    this.phase = 'starting';
    this.startPending = true;
    await this.tryStart(resume);
    this.startPending = false;
    this.events.changed();
  }

  /** What kept it from its first start is over. */
  mend(): void {
    if (this.phase === 'failed' && !this.everReady) this.phase = 'down';
  }

  shimLost(why: 'closed' | 'silent' | 'protocol'): void {
    this.silent = why === 'silent';
  }

  /** The agent's container is being ended: what ends now is not started again. */
  shimTerminating(): void {
    this.terminating = true;
  }

  /** Ends the process; the next turn gets a new one. */
  reload(): void {
    if (this.agent === undefined || this.phase !== 'ready') return;
    this.expected = 'reload';
    this.phase = 'ending';
    this.agent.process.signal('SIGKILL');
  }

  /** It is not started any more; a `finding` also becomes a condition. */
  fail(report: Report, finding?: string): void {
    this.phase = 'failed';
    this.failure = report.message ?? report.reason ?? '';
    const findings = finding && {findings: [{type: finding, reason: finding, message: this.failure}]};
    this.tools.reporter.report({...report, ...findings});
    this.events.changed();
  }

  /** Ends the agent in good order, for good. */
  async leave(): Promise<void> {
    this.phase = 'left';
    this.expected = 'leave';
    if (this.agent !== undefined) await endAgent(this.agent);
  }

  private async tryStart(known: string | undefined): Promise<void> {
    const {tools} = this;
    const finding = tools.loopback.findings()[0];
    if (finding !== undefined) return this.fail({state: 'Failed', reason: finding.reason, message: finding.message});
    // A first start is told by its end alone: each report is a write to the API.
    if (!this.everReady && tools.state.get().epoch > 1) this.reportRunnerRestart();
    const resume = tools.state.get().agentSessionId ?? known;
    const startTools = {...tools, room: () => tools.journal.room()};
    try {
      const {agent, findings} = await startAgent(startTools, resume);
      // Meanwhile the network opened: the process was cut off with its connection, and the next start waits for its end.
      if (this.phase !== 'starting') return await discard(agent);
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

  private agentEnded(agent: RunningAgent, exit: Exit | undefined): void {
    if (this.agent !== agent) return;
    const {tools, expected} = this;
    this.agent = undefined;
    this.expected = undefined;
    agent.acp.close();
    const known: Exit = exit ?? {outOfMemory: false};
    tools.log.info({exit: known, expected}, 'the agent ended');
    tools.reporter.record({kind: 'agent_exited', data: {...known, ...(expected === undefined ? {} : {expected})}});
    this.events.ended(this.turnResult(known));
    if (this.phase !== 'ready' && this.phase !== 'ending') return;
    this.phase = 'down';
    if (this.terminating || expected === 'leave') return;
    if (expected === undefined) this.planNext(known);
    this.events.changed();
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
}
