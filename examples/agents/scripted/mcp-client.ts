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

/** The wire to an MCP server. */
export interface McpLink {
  request(message: {id: number; method: string; params: object}, signal: AbortSignal): Promise<unknown>;
  close(): void;
}

/** An MCP client that does no more than list and call tools. */
export class McpClient {
  private readonly link: McpLink;
  private id = 0;

  constructor(link: McpLink) {
    this.link = link;
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

  close(): void {
    this.link.close();
  }

  private async request(method: string, params: object, signal: AbortSignal) {
    this.id += 1;
    const parsed = Reply.safeParse(await this.link.request({id: this.id, method, params}, signal));
    if (!parsed.success) throw new Error(`${method}: the platform answered with something that is not MCP`);
    if (parsed.data.error) throw new Error(`${method}: ${parsed.data.error.message}`);
    return parsed.data.result ?? {};
  }
}
