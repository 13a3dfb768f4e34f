import {z} from 'zod';

const Reply = z.object({
  result: z
    .looseObject({
      tools: z.array(z.looseObject({name: z.string()})).optional(),
      content: z.array(z.looseObject({text: z.string().optional()})).optional(),
      isError: z.boolean().optional(),
    })
    .optional(),
  error: z.looseObject({code: z.number(), message: z.string()}).optional(),
});

/** Where the tools of the platform are. */
export interface McpEndpoint {
  url: string;
  headers: Record<string, string>;
}

/** The smallest stateless MCP client over HTTP: one POST for each call, no session. */
export class McpClient {
  private readonly endpoint: McpEndpoint;
  private id = 0;

  constructor(endpoint: McpEndpoint) {
    this.endpoint = endpoint;
  }

  /** Says hello and returns the names of the tools. */
  async listTools(signal: AbortSignal): Promise<string[]> {
    const clientInfo = {name: 'scripted-agent', version: '1'};
    await this.request('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo}, signal);
    const result = await this.request('tools/list', {}, signal);
    return (result.tools ?? []).map((tool) => tool.name);
  }

  /** Calls a tool and returns its text; an error of the tool is thrown. */
  async callTool(name: string, args: unknown, signal: AbortSignal): Promise<string> {
    const result = await this.request('tools/call', {name, arguments: args}, signal);
    const text = (result.content ?? []).map((part) => part.text ?? '').join('\n');
    if (result.isError) throw new Error(`tool ${name}: ${text}`);
    return text;
  }

  private async request(method: string, params: object, signal: AbortSignal) {
    this.id += 1;
    const reply = await fetch(this.endpoint.url, {
      method: 'POST',
      headers: {
        ...this.endpoint.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({jsonrpc: '2.0', id: this.id, method, params}),
      signal,
    });
    const text = await reply.text();
    const parsed = Reply.safeParse(parseReply(text, reply.headers.get('content-type') ?? ''));
    if (!parsed.success) throw new Error(`${method}: the platform answered ${reply.status} ${text.slice(0, 200)}`);
    if (parsed.data.error) throw new Error(`${method}: ${parsed.data.error.message}`);
    return parsed.data.result ?? {};
  }
}

/** The message of a reply: JSON, or the last event of a stream. */
function parseReply(text: string, contentType: string): unknown {
  const json = contentType.startsWith('text/event-stream')
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .at(-1)
        ?.slice(5)
    : text;
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}
