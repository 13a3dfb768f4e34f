import type {AgentContext, PermissionOption, StopReason} from '@agentclientprotocol/sdk';
import type {Conversation} from './conversation.ts';
import type {McpClient} from './mcp-client.ts';
import type {ModelClient} from './model-client.ts';

/** What a turn works with. */
export interface TurnPorts {
  client: AgentContext;
  sessionId: string;
  cwd: string;
  conversation: Conversation;
  save(): Promise<void>;
  mcp: McpClient | undefined;
  model: ModelClient | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by `session/cancel`. */
  signal: AbortSignal;
}

/** One prompt on its way to its stop reason. */
export class Turn {
  readonly ports: TurnPorts;
  /** Set by an instruction that ends the turn. */
  stopReason: StopReason | undefined;
  /** What the agent has said in this turn. */
  said = '';
  private calls = 0;

  constructor(ports: TurnPorts) {
    this.ports = ports;
  }

  /** Says a piece of text to the user. */
  async say(text: string): Promise<void> {
    this.said += text;
    const {client, sessionId} = this.ports;
    await client.notify('session/update', {
      sessionId,
      update: {sessionUpdate: 'agent_message_chunk', content: {type: 'text', text}},
    });
  }

  /** Shows a tool call, runs it, and shows how it ended; rethrows its error. */
  async call<T>(title: string, rawInput: unknown, run: () => Promise<T>): Promise<T> {
    const toolCallId = this.nextCallId();
    const {client, sessionId} = this.ports;
    const show = (update: {
      sessionUpdate: 'tool_call_update';
      toolCallId: string;
      status: 'completed' | 'failed';
      rawOutput: unknown;
    }) => client.notify('session/update', {sessionId, update});
    await client.notify('session/update', {
      sessionId,
      update: {sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput},
    });
    try {
      const rawOutput = await run();
      await show({sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput});
      return rawOutput;
    } catch (error) {
      await show({sessionUpdate: 'tool_call_update', toolCallId, status: 'failed', rawOutput: String(error)});
      throw error;
    }
  }

  /** Asks for permission and returns the id of the chosen option, or `cancelled`. */
  async permission(title: string, options: PermissionOption[]): Promise<string> {
    const {client, sessionId, signal} = this.ports;
    const toolCall = {toolCallId: this.nextCallId(), title, kind: 'execute' as const, status: 'pending' as const};
    await client.notify('session/update', {
      sessionId,
      update: {sessionUpdate: 'tool_call', ...toolCall, rawInput: {title}},
    });
    const {outcome} = await client.request(
      'session/request_permission',
      {sessionId, toolCall: {...toolCall, rawInput: {title}}, options},
      {cancellationSignal: signal},
    );
    return outcome.outcome === 'selected' ? outcome.optionId : 'cancelled';
  }

  private nextCallId(): string {
    this.calls += 1;
    return `call-${this.ports.conversation.turns}-${this.calls}`;
  }
}
