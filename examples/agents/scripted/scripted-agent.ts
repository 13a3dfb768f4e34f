import {randomUUID} from 'node:crypto';
import * as acp from '@agentclientprotocol/sdk';
import {type Conversation, ConversationStore} from './conversation.ts';
import {HANDLERS} from './instructions.ts';
import type {McpClient} from './mcp-client.ts';
import {connectMcp, type McpTaken} from './mcp-servers.ts';
import {ModelClient} from './model-client.ts';
import {readScript} from './script.ts';
import {Turn} from './turn.ts';

/** How the agent is started. */
export interface AgentOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Where conversations are kept. */
  home: string;
  /** Offers neither `session/load` nor `session/resume`. */
  noResume: boolean;
  /** Wants `authenticate` with the method `key` before a session. */
  needsLogin: boolean;
  /** Announced, except for stdio, which ACP makes mandatory. */
  mcp: McpTaken;
  /** Diagnosis; never standard output, which belongs to the protocol. */
  log(text: string): void;
}

interface Open {
  conversation: Conversation;
  cwd: string;
  mcp: McpClient | undefined;
  running: AbortController | undefined;
}

const MODES = {
  currentModeId: 'default',
  availableModes: [
    {id: 'default', name: 'Default'},
    {id: 'careful', name: 'Careful'},
  ],
};

/** An ACP agent that does what the lines of its prompts say. */
export class ScriptedAgent {
  private readonly options: AgentOptions;
  private readonly store: ConversationStore;
  private readonly open = new Map<string, Open>();
  private loggedIn: boolean;

  constructor(options: AgentOptions) {
    this.options = options;
    this.store = new ConversationStore(options.home);
    this.loggedIn = !options.needsLogin;
  }

  /** The protocol side, to be connected to a stream. */
  app(): acp.AgentApp {
    const app = acp
      .agent({name: 'scripted-agent'})
      .onRequest('initialize', () => this.initialize())
      .onRequest('authenticate', ({params}) => this.authenticate(params.methodId))
      .onRequest('session/new', ({params}) => this.create(params))
      .onRequest('session/set_mode', ({params}) => this.setMode(params.sessionId, params.modeId))
      .onRequest('session/close', ({params}) => this.closeSession(params.sessionId))
      .onRequest('session/prompt', ({params, client}) => this.prompt(params, client))
      .onNotification('session/cancel', ({params}) => this.open.get(params.sessionId)?.running?.abort());
    if (this.options.noResume) return app;
    return app
      .onRequest('session/load', ({params, client}) => this.load(params, client))
      .onRequest('session/resume', async ({params}) => {
        await this.reopen(params);
        return {modes: MODES};
      });
  }

  private initialize(): acp.InitializeResponse {
    const offers = !this.options.noResume;
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: {name: 'scripted-agent', version: '1.0.0'},
      agentCapabilities: {
        loadSession: offers,
        mcpCapabilities: {http: this.options.mcp === 'http', sse: false},
        sessionCapabilities: {close: {}, ...(offers ? {resume: {}} : {})},
      },
      authMethods: this.options.needsLogin ? [{id: 'key', name: 'Key', description: 'Any call is enough.'}] : [],
    };
  }

  private authenticate(methodId: string): acp.AuthenticateResponse {
    if (methodId !== 'key') throw acp.RequestError.invalidParams(undefined, 'the only method is key');
    this.loggedIn = true;
    return {};
  }

  private async create(params: acp.NewSessionRequest): Promise<acp.NewSessionResponse> {
    if (!this.loggedIn) throw acp.RequestError.authRequired(undefined, 'call authenticate with the method key');
    const conversation = await this.store.create(randomUUID());
    this.opened(conversation, params);
    return {sessionId: conversation.id, modes: MODES};
  }

  private async load(params: acp.LoadSessionRequest, client: acp.AgentContext): Promise<acp.LoadSessionResponse> {
    const {id, history} = await this.reopen(params);
    for (const {role, text} of history) {
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      await client.notify('session/update', {
        sessionId: id,
        update: {sessionUpdate, content: {type: 'text', text}},
      });
    }
    return {modes: MODES};
  }

  private async reopen(params: acp.ResumeSessionRequest): Promise<Conversation> {
    const conversation = await this.store.read(params.sessionId);
    if (!conversation) throw acp.RequestError.resourceNotFound(params.sessionId);
    this.opened(conversation, params);
    return conversation;
  }

  private opened(conversation: Conversation, params: {cwd: string; mcpServers?: acp.McpServer[] | null}): void {
    const {mcp: taken, env, log} = this.options;
    this.open.get(conversation.id)?.mcp?.close();
    const mcp = connectMcp(params.mcpServers ?? [], {taken, env, log});
    this.open.set(conversation.id, {conversation, cwd: params.cwd, mcp, running: undefined});
    // Not awaited: a platform that does not answer must not keep the session from opening.
    mcp?.listTools(AbortSignal.timeout(30_000)).then(
      (names) => log(`tools: ${names.join(' ')}`),
      (error: unknown) => log(`no tools: ${String(error)}`),
    );
  }

  private async setMode(sessionId: string, modeId: string): Promise<acp.SetSessionModeResponse> {
    const {conversation} = this.session(sessionId);
    if (!MODES.availableModes.some((mode) => mode.id === modeId)) {
      throw acp.RequestError.invalidParams(undefined, `unknown mode ${modeId}: use default or careful`);
    }
    conversation.mode = modeId;
    await this.store.save(conversation);
    return {};
  }

  private closeSession(sessionId: string): acp.CloseSessionResponse {
    const session = this.session(sessionId);
    session.running?.abort();
    session.mcp?.close();
    this.open.delete(sessionId);
    return {};
  }

  private async prompt(params: acp.PromptRequest, client: acp.AgentContext): Promise<acp.PromptResponse> {
    const session = this.session(params.sessionId);
    if (session.running) throw acp.RequestError.invalidRequest(undefined, 'a turn is running already');
    const running = new AbortController();
    session.running = running;
    const {conversation} = session;
    try {
      const blocks = params.prompt.map((block) => (block.type === 'text' ? block.text : ''));
      const text = blocks.join('\n');
      conversation.turns += 1;
      conversation.history.push({role: 'user', text});
      await this.store.save(conversation);
      const turn = new Turn({
        client,
        sessionId: params.sessionId,
        cwd: session.cwd,
        conversation,
        save: () => this.store.save(conversation),
        mcp: session.mcp,
        model: modelOf(this.options.env),
        env: this.options.env,
        signal: running.signal,
      });
      const stopReason = await runTurn(turn, blocks);
      conversation.history.push({role: 'agent', text: turn.said});
      await this.store.save(conversation);
      return {stopReason};
    } finally {
      session.running = undefined;
    }
  }

  private session(id: string): Open {
    const session = this.open.get(id);
    if (!session) throw acp.RequestError.resourceNotFound(id);
    return session;
  }
}

async function runTurn(turn: Turn, blocks: readonly string[]): Promise<acp.StopReason> {
  const {signal} = turn.ports;
  try {
    const script = readScript(blocks);
    for (const {verb, argument} of script) {
      await HANDLERS[verb](argument, turn);
      if (signal.aborted) return 'cancelled';
      if (turn.stopReason) return turn.stopReason;
    }
    if (script.length === 0) await answerProse(turn, blocks.join('\n'));
    return signal.aborted ? 'cancelled' : 'end_turn';
  } catch (error) {
    if (signal.aborted) return 'cancelled';
    throw new acp.RequestError(-32603, error instanceof Error ? error.message : String(error));
  }
}

async function answerProse(turn: Turn, prompt: string): Promise<void> {
  const {model, conversation, signal} = turn.ports;
  if (!model) return await turn.say(`turn ${conversation.turns}: you said ${JSON.stringify(prompt.trim())}\n`);
  for await (const piece of model.ask(conversation.history, signal)) await turn.say(piece);
}

function modelOf(env: AgentOptions['env']): ModelClient | undefined {
  const {CARREL_MODEL_URL: url, CARREL_MODEL_KEY: key = '', CARREL_MODEL_NAME: name = ''} = env;
  return url === undefined || url === '' ? undefined : new ModelClient({url, key, name});
}
