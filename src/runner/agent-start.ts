import {setTimeout as delay} from 'node:timers/promises';
import type {Launch} from '../api/launch.ts';
import {printableTail, printableWords} from '../domain/runner/clean.ts';
import {describeExit} from '../domain/runner/exit.ts';
import {launchEnvironment, launchFiles} from '../domain/runner/launch-environment.ts';
import type {AcpConnection, Greeting} from './acp.ts';
import {openConversation} from './agent-conversation.ts';
import {AgentNotStarted, EXIT_WAIT} from './agent-not-started.ts';
import {type AgentProcess, StartFailed} from './agent-process.ts';
import {agentError} from './agent-refused.ts';
import {PlatformTools} from './agent-tools.ts';
import type {Finding, Log, Loopback} from './loopback/ports.ts';
import type {Questions} from './questions.ts';
import {AgentListener, type RunningAgent} from './running-agent.ts';
import type {ShimLink} from './shim-link.ts';

/** Milliseconds from the first line that is not ACP to an answer to `initialize`: some agents print a line first. */
const STRAY_WAIT = 3_000;
const STDERR_SHOWN = 700;

/** What a start is made of. */
export type StartTools = {
  link: Pick<ShimLink, 'start'>;
  launch: Launch;
  loopback: Loopback;
  questions: Questions;
  workspace: string;
  /** Command of the stdio bridge, in the agent's container. */
  bridge: readonly string[];
  room(): Promise<void>;
  log: Log;
};

/** Starts the process, greets it, and brings its conversation back; throws `AgentNotStarted` within `limits.start`. */
export async function startAgent(
  tools: StartTools,
  resume: string | undefined,
): Promise<{agent: RunningAgent; findings: Finding[]}> {
  const {launch, loopback} = tools;
  loopback.forgetTools();
  const late = new AgentNotStarted(
    'InitializeTimeout',
    `the agent did not answer initialize and open a session within limits.start (${launch.limits.start} s)`,
  );
  const deadline = delay(launch.limits.start * 1_000).then(() => Promise.reject(late));
  deadline.catch(() => {});
  const process = await Promise.race([spawn(tools), deadline]);
  const listener = new AgentListener(tools.questions);
  // Read while the agent starts: before, it would delay that.
  const {AcpConnection} = await import('./acp.ts');
  const acp = new AcpConnection(process, {
    update: (update) => listener.update(update),
    permission: (asked, cancelled) => listener.permission(asked, cancelled),
    elicitation: (asked, cancelled) => listener.elicitation(asked, cancelled),
    otherLine: (sample) => listener.otherLine(sample),
    room: tools.room,
  });
  try {
    const over = Promise.race([deadline, ended(process, listener, tools)]);
    over.catch(() => {});
    const greeting = await Promise.race([greet(acp), over, stray(listener)]);
    const platform = new PlatformTools(tools, greeting);
    const opened = await Promise.race([openConversation({acp, greeting, platform, tools}, resume), over]);
    const findings = await Promise.race([platform.findings(), over]);
    return {agent: {process, acp, greeting, listener, ...opened}, findings};
  } catch (error) {
    acp.close();
    process.signal('SIGKILL');
    await Promise.race([process.exited, delay(EXIT_WAIT)]);
    throw error;
  }
}

async function spawn({link, launch, loopback}: StartTools): Promise<AgentProcess> {
  try {
    return await link.start({
      argv: [...launch.command, ...launch.args],
      env: launchEnvironment(launch, loopback),
      files: launchFiles(launch, loopback),
    });
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    if (error.reason === 'VolumeNotWritable') {
      const message = `${error.message}: the volume ignores fsGroup or is read-only; use another storage class`;
      const finding = {type: 'VolumeNotWritable', reason: 'VolumeNotWritable', message};
      throw new AgentNotStarted('VolumeNotWritable', message, {finding});
    }
    throw new AgentNotStarted(error.reason === 'CommandNotFound' ? 'CommandNotFound' : 'StartFailed', error.message);
  }
}

/** Rejects when the process ends before it is of use. */
async function ended(process: AgentProcess, listener: AgentListener, {log}: StartTools): Promise<never> {
  const exit = await process.exited;
  const words = printableWords(process.stderrTail(), STDERR_SHOWN);
  const last = words === '' ? 'it wrote nothing to its standard error' : `its last words: ${words}`;
  if (exit === undefined) {
    throw new AgentNotStarted('AgentUnresponsive', 'the process beside the agent was lost during the start');
  }
  log.info({exit}, 'the agent ended during its start');
  if (listener.otherLines > 0 && exit.code === 0) throw notAcp(await listener.firstOtherLine.promise);
  const {reason, message} = describeExit(exit);
  throw new AgentNotStarted(reason, `${message} before it was ready; ${last}`, {exit});
}

/** Rejects a while after the first line that is not ACP. */
async function stray(listener: AgentListener): Promise<never> {
  const sample = await listener.firstOtherLine.promise;
  await delay(STRAY_WAIT);
  throw notAcp(sample);
}

function notAcp(sample: string): AgentNotStarted {
  const shown = JSON.stringify(printableTail(sample, 120));
  return new AgentNotStarted(
    'AgentNotAcp',
    `the agent does not speak ACP on its standard output (first line ${shown}): check command and args`,
  );
}

async function greet(acp: AcpConnection): Promise<Greeting> {
  try {
    const greeting = await acp.initialize();
    if (greeting.protocolVersion === 1) return greeting;
    throw new AgentNotStarted('AgentNotAcp', `the agent speaks ACP version ${greeting.protocolVersion}; 1 is needed`);
  } catch (error) {
    const refusal = agentError(error);
    // The streams ended: the exit of the process says more, and `ended` rejects with it.
    if (refusal === undefined && !(error instanceof AgentNotStarted)) await delay(EXIT_WAIT);
    if (refusal === undefined) throw error;
    throw new AgentNotStarted('AgentNotAcp', `the agent refused initialize: ${refusal.code} ${refusal.message}`);
  }
}
