import {setTimeout as delay} from 'node:timers/promises';
import type {AcpConnection, Greeting} from './acp.ts';
import {AgentNotStarted, EXIT_WAIT} from './agent-not-started.ts';
import {agentError} from './agent-refused.ts';
import type {StartTools} from './agent-start.ts';
import type {PlatformTools} from './agent-tools.ts';
import type {Conversation} from './running-agent.ts';

const AUTHENTICATION_REQUIRED = -32_000;

/** What a conversation is opened with. */
export type Opening = {acp: AcpConnection; greeting: Greeting; platform: PlatformTools; tools: StartTools};

/** A conversation, and how the process came by it. */
export type Opened = {sessionId: string; conversation: Conversation};

/** Logs in where it is asked for, and brings the conversation back or begins one; throws `AgentNotStarted`. */
export async function openConversation(opening: Opening, resume: string | undefined): Promise<Opened> {
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
async function reopen({acp, greeting, platform, tools}: Opening, id: string | undefined): Promise<Opened | undefined> {
  if (id === undefined || tools.launch.harness.noReload) return undefined;
  const {loadSession, sessionCapabilities} = greeting.agentCapabilities ?? {};
  const ways = [
    ...(sessionCapabilities?.resume != null ? ['resume' as const] : []),
    ...(loadSession === true ? ['load' as const] : []),
  ];
  for (const way of ways) {
    try {
      await platform.with((servers) => acp[way](id, tools.workspace, servers));
      return {sessionId: id, conversation: way === 'resume' ? 'Resumed' : 'Loaded'};
    } catch (error) {
      const refusal = agentError(error);
      if (refusal === undefined) await delay(EXIT_WAIT);
      tools.log.warn({way, error: refusal?.message}, 'the agent could not bring its conversation back');
    }
  }
  return undefined;
}

async function create({acp, platform, tools}: Opening, rebuilt: boolean): Promise<Opened> {
  const attempt = (): Promise<string> => platform.with((servers) => acp.create(tools.workspace, servers));
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
    if (refusal === undefined) await delay(EXIT_WAIT);
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
