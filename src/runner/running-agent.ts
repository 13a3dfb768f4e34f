import {setTimeout as delay} from 'node:timers/promises';
import type {AgentUpdate} from '../domain/runner/merge.ts';
import type {AcpConnection, AcpEvents, ElicitationAsked, Greeting, PermissionAsked} from './acp.ts';
import type {AgentProcess} from './agent-process.ts';
import type {Questions} from './questions.ts';
import type {TurnRun} from './turn-run.ts';

/** How the conversation came to this process. */
export type Conversation = 'New' | 'Resumed' | 'Loaded' | 'Rebuilt';

/** An agent that answers and has a conversation. */
export type RunningAgent = {
  process: AgentProcess;
  acp: AcpConnection;
  greeting: Greeting;
  sessionId: string;
  conversation: Conversation;
  listener: AgentListener;
};

/** Milliseconds between closing the input, TERM and KILL. */
const STEP = 3_000;

/** Ends the agent in good order: each step only when the one before did not do. */
export async function endAgent({process, acp, greeting, sessionId}: RunningAgent): Promise<void> {
  const gone = process.exited.then(() => true);
  if (greeting.agentCapabilities?.sessionCapabilities?.close != null) {
    await Promise.race([acp.end(sessionId).catch(() => {}), delay(STEP), gone]);
  }
  process.closeInput();
  if (await Promise.race([gone, delay(STEP, false)])) return;
  process.signal('SIGTERM');
  if (await Promise.race([gone, delay(STEP, false)])) return;
  process.signal('SIGKILL');
  await Promise.race([gone, delay(STEP)]);
}

/** Kills an agent that came too late to be of use; returns when it is gone. */
export async function discard({process, acp}: RunningAgent): Promise<void> {
  acp.close();
  process.signal('SIGKILL');
  await Promise.race([process.exited, delay(STEP)]);
}

/** Leads what an agent does on its own account to the turn that runs; before a turn, updates are replay and are dropped. */
export class AgentListener implements Omit<AcpEvents, 'room'> {
  turn: TurnRun | undefined;
  /** Lines on standard output that are not ACP. */
  otherLines = 0;
  readonly firstOtherLine = Promise.withResolvers<string>();
  private readonly questions: Questions;

  constructor(questions: Questions) {
    this.questions = questions;
  }

  update(update: AgentUpdate): void {
    this.turn?.update(update);
  }

  permission(asked: PermissionAsked, cancelled: AbortSignal): ReturnType<AcpEvents['permission']> {
    const turn = this.turn;
    // The question may name the tool call for the first time, or say more of it.
    if (turn !== undefined) turn.update({...asked.toolCall, sessionUpdate: 'tool_call_update'});
    const known = turn?.merger.known(asked.toolCall.toolCallId) ?? {};
    return this.questions.permission(
      turn?.interrupting === true ? undefined : turn?.asking,
      {...asked, known},
      cancelled,
    );
  }

  elicitation(asked: ElicitationAsked, cancelled: AbortSignal): ReturnType<AcpEvents['elicitation']> {
    const turn = this.turn;
    return this.questions.elicitation(turn?.interrupting === true ? undefined : turn?.asking, asked, cancelled);
  }

  otherLine(sample: string): void {
    this.otherLines += 1;
    this.firstOtherLine.resolve(sample);
  }
}
