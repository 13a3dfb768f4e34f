import * as acp from '@agentclientprotocol/sdk';
import {z} from 'zod';
import type {ElicitationReply, PermissionReply} from '../domain/runner/answer.ts';
import type {AgentUpdate} from '../domain/runner/merge.ts';
import {jsonLines} from './acp-stream.ts';
import type {AgentProcess} from './agent-process.ts';
import {AgentRefused} from './agent-refused.ts';

/** Longest message of an agent, in bytes. */
const MAX_MESSAGE = 8_388_608;

// Lenient on purpose: what is not known here goes into the transcript as it came.
const Update = z.looseObject({sessionId: z.string(), update: z.looseObject({sessionUpdate: z.string()})});
const Permission = z.looseObject({
  sessionId: z.string(),
  toolCall: z.looseObject({toolCallId: z.string()}),
  options: z
    .array(z.looseObject({optionId: z.string(), name: z.string().default(''), kind: z.string().optional()}))
    .default([]),
});
const Elicitation = z.looseObject({
  message: z.string().default(''),
  mode: z.string().default('form'),
  requestedSchema: z.record(z.string(), z.unknown()).optional(),
});
/** `session/request_permission` as the agent sent it. */
export type PermissionAsked = z.infer<typeof Permission>;
/** `elicitation/create` as the agent sent it. */
export type ElicitationAsked = z.infer<typeof Elicitation>;

/** What an agent does on its own account. */
export type AcpEvents = {
  update(update: AgentUpdate): void;
  permission(asked: PermissionAsked, cancelled: AbortSignal): Promise<PermissionReply>;
  elicitation(asked: ElicitationAsked, cancelled: AbortSignal): Promise<ElicitationReply>;
  otherLine(sample: string): void;
  room(): Promise<void>;
};

/** The agent's MCP servers: ours alone. */
export type McpServers = acp.McpServer[];

// The library hands answers on as they came. What is of no use to a start is left out, what it needs is refused.
const Greeting = z.looseObject({
  protocolVersion: z.number(),
  agentInfo: z.looseObject({name: z.string(), version: z.string()}).optional().catch(undefined),
  agentCapabilities: z
    .looseObject({
      loadSession: z.boolean().optional().catch(undefined),
      mcpCapabilities: z
        .looseObject({http: z.boolean().optional().catch(undefined)})
        .optional()
        .catch(undefined),
      sessionCapabilities: z.record(z.string(), z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  authMethods: z
    .array(z.looseObject({id: z.string()}))
    .optional()
    .catch(undefined),
});
/** The id goes into the state file and into the Session. */
const Opened = z.looseObject({sessionId: z.string().min(1).max(512)});
const Stopped = z.looseObject({stopReason: z.string()});
/** What the agent answered to `initialize`. */
export type Greeting = z.infer<typeof Greeting>;

/** Hands on what the agent answers; its errors leave this file as ours. */
async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw error instanceof acp.RequestError ? new AgentRefused(error.code, error.message) : error;
  }
}

/** The answer in the shape that is needed; another one counts as an error that the agent answered with. */
function answerOf<T>(method: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'result';
  throw new AgentRefused(-32_603, `its answer to ${method} is not one of ACP: ${where}`);
}

/** ACP v1 over the standard streams of one process; the only importer of the ACP library. */
export class AcpConnection {
  private readonly connection: acp.ClientConnection;

  constructor(process: AgentProcess, events: AcpEvents) {
    const app = acp
      .client({name: 'carrel-runner'})
      .onNotification('session/update', Update, ({params}) => events.update(params.update))
      .onRequest('session/request_permission', Permission, async ({params, signal}) => ({
        outcome: await events.permission(params, signal),
      }))
      .onRequest('elicitation/create', Elicitation, ({params, signal}) => events.elicitation(params, signal))
      .onNotification('*', () => {});
    const lines = jsonLines(process.stdout, events);
    this.connection = app.connect(acp.ndJsonStream(process.stdin, lines, {maxMessageBytes: MAX_MESSAGE}));
    this.connection.closed.catch(() => {});
  }

  /** Resolves when the streams have ended. */
  get closed(): Promise<void> {
    return this.connection.closed.catch(() => {});
  }

  close(): void {
    this.connection.close();
  }

  /** No `fs` and no `terminal`: every agent then uses its own tools in its own container. */
  async initialize(): Promise<Greeting> {
    const hello = {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: {name: 'carrel', version: '0.1.0'},
      clientCapabilities: {elicitation: {form: {}}, session: {notices: {}, compaction: {}}},
    };
    const answer = await answered(this.connection.agent.request('initialize', hello));
    return answerOf('initialize', Greeting, answer);
  }

  async authenticate(methodId: string): Promise<void> {
    await answered(this.connection.agent.request('authenticate', {methodId}));
  }

  async create(cwd: string, mcpServers: McpServers): Promise<string> {
    const answer = await answered(this.connection.agent.request('session/new', {cwd, mcpServers}));
    return answerOf('session/new', Opened, answer).sessionId;
  }

  async resume(sessionId: string, cwd: string, mcpServers: McpServers): Promise<void> {
    await answered(this.connection.agent.request('session/resume', {sessionId, cwd, mcpServers}));
  }

  async load(sessionId: string, cwd: string, mcpServers: McpServers): Promise<void> {
    await answered(this.connection.agent.request('session/load', {sessionId, cwd, mcpServers}));
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await answered(this.connection.agent.request('session/set_mode', {sessionId, modeId}));
  }

  /** The stop reason of the turn, as the agent said it. */
  async prompt(sessionId: string, blocks: readonly string[]): Promise<string> {
    const prompt = blocks.map((text): acp.ContentBlock => ({type: 'text', text}));
    const answer = await answered(this.connection.agent.request('session/prompt', {sessionId, prompt}));
    return answerOf('session/prompt', Stopped, answer).stopReason;
  }

  async cancel(sessionId: string): Promise<void> {
    await this.connection.agent.notify('session/cancel', {sessionId}).catch(() => {});
  }

  async end(sessionId: string): Promise<void> {
    await answered(this.connection.agent.request('session/close', {sessionId}));
  }
}
