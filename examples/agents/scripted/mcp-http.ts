/** Where the tools of the platform are. */
export interface HttpServer {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** The smallest stateless MCP client over HTTP: one POST for each message, no session. */
export class HttpLink {
  private readonly server: HttpServer;

  constructor(server: HttpServer) {
    this.server = server;
  }

  /** Sends one request; the message that came back. */
  async request(message: {method: string}, signal: AbortSignal): Promise<unknown> {
    const reply = await fetch(this.server.url, {
      method: 'POST',
      headers: {
        ...this.server.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({jsonrpc: '2.0', ...message}),
      signal,
    });
    const text = await reply.text();
    const parsed = parseReply(text, reply.headers.get('content-type') ?? '');
    if (parsed === undefined)
      throw new Error(`${message.method}: the platform answered ${reply.status} ${text.slice(0, 200)}`);
    return parsed;
  }

  close(): void {}
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
