import {setTimeout as delay} from 'node:timers/promises';
import type {Launch} from '../api/launch.ts';
import {printableTail} from '../domain/runner/clean.ts';
import {describeExit, type Exit} from '../domain/runner/exit.ts';
import {launchEnvironment, launchFiles} from '../domain/runner/launch-environment.ts';
import {AcpConnection, agentError, type Greeting, type McpServers} from './acp.ts';
import {type AgentProcess, StartFailed} from './agent-process.ts';
import type {Finding, Log, Loopback} from './loopback/ports.ts';
import type {Questions} from './questions.ts';
import {AgentListener, type Conversation, type RunningAgent} from './running-agent.ts';
import type {ShimLink} from './shim-link.ts';

/** Milliseconds. */
const WAIT = {
  /** From session to the first `tools/list`: ACP has no other sign that the agent has its tools. */
  tools: 10_000,
  /** From the first line that is not ACP to an answer to `initialize`: some agents print a line first. */
  stray: 3_000,
  /** From the end of the streams to the report of the exit. */
  exit: 3_000,
} as const;
const AUTHENTICATION_REQUIRED = -32_000;
const STDERR_SHOWN = 600;

/** The agent cannot be used; `reason` is a documented one. */
export class AgentNotStarted extends Error {
  override name = 'AgentNotStarted';
  readonly reason: string;
  readonly finding: Finding | undefined;
  readonly exit: Exit | undefined;

  constructor(reason: string, message: string, more: {exit?: Exit | undefined; finding?: Finding} = {}) {
    super(message);
    this.reason = reason;
    this.exit = more.exit;
    this.finding = more.finding;
  }
}

/** What a start is made of. */
export type StartTools = {
  link: ShimLink;
  launch: Launch;
  loopback: Loopback;
  questions: Questions;
  workspace: string;
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
    const servers = mcpServers(launch, loopback, greeting);
    const opened = await Promise.race([open({acp, greeting, servers, tools}, resume), over]);
    const findings = await Promise.race([toolsFindings(tools, servers), over]);
    return {agent: {process, acp, greeting, listener, ...opened}, findings};
  } catch (error) {
    acp.close();
    process.signal('SIGKILL');
    await Promise.race([process.exited, delay(WAIT.exit)]);
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
  const tail = printableTail(process.stderrTail(), STDERR_SHOWN);
  const last = tail === '' ? 'it wrote nothing to its standard error' : `its last words: ${tail}`;
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
  await delay(WAIT.stray);
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
    if (refusal === undefined && !(error instanceof AgentNotStarted)) await delay(WAIT.exit);
    if (refusal === undefined) throw error;
    throw new AgentNotStarted('AgentNotAcp', `the agent refused initialize: ${refusal.code} ${refusal.message}`);
  }
}

function mcpServers(launch: Launch, loopback: Loopback, greeting: Greeting): McpServers {
  if (greeting.agentCapabilities?.mcpCapabilities?.http !== true && !launch.harness.assumeMcpHttp) return [];
  const headers = [{name: 'Authorization', value: `Bearer ${loopback.mcpToken}`}];
  return [{type: 'http', name: 'platform', url: loopback.mcpUrl, headers}];
}

type Opening = {acp: AcpConnection; greeting: Greeting; servers: McpServers; tools: StartTools};
type Opened = {sessionId: string; conversation: Conversation};

async function open(opening: Opening, resume: string | undefined): Promise<Opened> {
  const {acp, greeting, tools} = opening;
  const {authMethod, mode} = tools.launch.harness;
  if (authMethod !== undefined && greeting.authMethods?.some((method) => method.id === authMethod) === true) {
    await authenticate(acp, authMethod);
  }
  const opened = (await reopen(opening, resume)) ?? (await create(opening, resume !== undefined));
  if (mode !== undefined) {
    await acp.setMode(opened.sessionId, mode).catch((error: unknown) => {
      tools.log.warn({mode, error: agentError(error)?.message}, 'the agent refused the mode; it goes on in its own');
    });
  }
  return opened;
}

/** The earlier conversation, by resume where it is offered, else by load; nothing when neither works. */
async function reopen({acp, greeting, servers, tools}: Opening, id: string | undefined): Promise<Opened | undefined> {
  if (id === undefined || tools.launch.harness.noReload) return undefined;
  const {loadSession, sessionCapabilities} = greeting.agentCapabilities ?? {};
  const ways = [
    ...(sessionCapabilities?.resume != null ? ['resume' as const] : []),
    ...(loadSession === true ? ['load' as const] : []),
  ];
  for (const way of ways) {
    try {
      await acp[way](id, tools.workspace, servers);
      return {sessionId: id, conversation: way === 'resume' ? 'Resumed' : 'Loaded'};
    } catch (error) {
      const refusal = agentError(error);
      if (refusal === undefined) await delay(WAIT.exit);
      tools.log.warn({way, error: refusal?.message}, 'the agent could not bring its conversation back');
    }
  }
  return undefined;
}

async function create({acp, servers, tools}: Opening, rebuilt: boolean): Promise<Opened> {
  const attempt = (): Promise<string> => acp.create(tools.workspace, servers);
  const {authMethod} = tools.launch.harness;
  try {
    const sessionId = await attempt().catch(async (error: unknown) => {
      if (agentError(error)?.code !== AUTHENTICATION_REQUIRED || authMethod === undefined) throw error;
      await authenticate(acp, authMethod);
      return await attempt();
    });
    return {sessionId, conversation: rebuilt ? 'Rebuilt' : 'New'};
  } catch (error) {
    const refusal = agentError(error);
    if (error instanceof AgentNotStarted) throw error;
    if (refusal === undefined) await delay(WAIT.exit);
    if (refusal?.code === AUTHENTICATION_REQUIRED) throw loginNeeded(refusal.message);
    throw new AgentNotStarted('StartFailed', `the agent refused session/new: ${refusal?.message ?? 'it hung up'}`);
  }
}

async function authenticate(acp: AcpConnection, method: string): Promise<void> {
  await acp.authenticate(method).catch((error: unknown) => {
    throw loginNeeded(agentError(error)?.message ?? 'it hung up');
  });
}

function loginNeeded(message: string): AgentNotStarted {
  return new AgentNotStarted(
    'AuthenticationRequired',
    `the agent wants a login (${message}): set harness.authMethod to one that needs no person, or give it its key`,
  );
}

/** A finding when the agent does not ask for its tools in time; it goes on without them. */
async function toolsFindings({loopback}: StartTools, servers: McpServers): Promise<Finding[]> {
  const missing = (message: string): Finding[] => [{type: 'ToolsNotConnected', reason: 'ToolsNotConnected', message}];
  if (servers.length === 0) return missing('the agent takes no MCP server over HTTP; it goes on without tools');
  if (loopback.toolsListed()) return [];
  const listed = Promise.withResolvers<boolean>();
  const unsubscribe = loopback.onToolsListed(() => listed.resolve(true));
  const timer = setTimeout(() => listed.resolve(loopback.toolsListed()), WAIT.tools);
  const found = await listed.promise;
  clearTimeout(timer);
  unsubscribe();
  return found
    ? []
    : missing(`the agent did not list the tools within ${WAIT.tools / 1000} s; it goes on without them`);
}
