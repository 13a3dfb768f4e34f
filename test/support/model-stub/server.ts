import type {IncomingMessage, ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import {setTimeout as delay} from 'node:timers/promises';
import {z} from 'zod';
import {anthropicError, anthropicEvents, anthropicReply} from './anthropic.ts';
import {chatError, chatEvents, chatReply} from './openai.ts';
import {piecesOf, type Reaction, reactTo, tokensOf} from './reaction.ts';

const Content = z.union([z.string(), z.array(z.looseObject({text: z.string().optional()}))]);
const Body = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({role: z.string(), content: Content.nullish()})),
});

/** What a request to the stub looked like. */
export interface Seen {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** How the stub is started. */
export interface ModelStubOptions {
  cert: string;
  key: string;
  host?: string;
  port?: number;
  /** Requests with another key get 401; any key is good if absent. */
  apiKey?: string;
}

/** The running stub. */
export interface ModelStub {
  port: number;
  /** Every request since the start, oldest first. */
  seen: Seen[];
  close(): Promise<void>;
}

const DIALECTS = {
  '/v1/messages': {reply: anthropicReply, events: anthropicEvents, error: anthropicError},
  '/v1/chat/completions': {reply: chatReply, events: chatEvents, error: chatError},
} as const;

type Shape = (typeof DIALECTS)[keyof typeof DIALECTS];

/** Starts the scripted model: Anthropic Messages and OpenAI chat over https. */
export async function startModelStub(options: ModelStubOptions): Promise<ModelStub> {
  const seen: Seen[] = [];
  const server = createServer({cert: options.cert, key: options.key}, (request, response) => {
    serve(request, response, {seen, options}).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    seen,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

interface Serving {
  seen: Seen[];
  options: ModelStubOptions;
}

async function serve(request: IncomingMessage, response: ServerResponse, {seen, options}: Serving): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const {method = '', url = '', headers} = request;
  const text = Buffer.concat(chunks).toString('utf8');
  seen.push({method, url, headers, body: text});
  const path = url.split('?')[0] ?? '';
  const shape = Object.entries(DIALECTS).find(([known]) => path.endsWith(known))?.[1];
  if (path === '/healthz') return json(response, 200, {ok: true});
  if (path.endsWith('/v1/models')) return json(response, 200, {object: 'list', data: [{id: 'stub-model'}]});
  if (path.endsWith('/v1/messages/count_tokens')) return json(response, 200, {input_tokens: tokensOf(text)});
  if (!shape || method !== 'POST') return json(response, 404, chatError(`the stub does not serve ${method} ${path}`));
  const shown = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (options.apiKey !== undefined && shown !== options.apiKey) {
    return json(response, 401, shape.error('invalid API key', 'authentication_error'));
  }
  const body = Body.safeParse(parse(text));
  if (!body.success) return json(response, 400, shape.error('the body is no request for a completion'));
  await react(response, shape, body.data, reactTo(lastUserText(body.data), headers));
}

async function react(
  response: ServerResponse,
  shape: Shape,
  body: z.infer<typeof Body>,
  reaction: Reaction,
): Promise<void> {
  const inputTokens = tokensOf(body.messages.map((message) => textOf(message.content)).join(' '));
  switch (reaction.kind) {
    case 'error':
      if (reaction.status === 429) response.setHeader('retry-after', '1');
      return json(response, reaction.status, shape.error(reaction.message));
    case 'redirect':
      response.writeHead(307, {location: reaction.to}).end();
      return;
    case 'streamError':
      response.writeHead(200, {'content-type': 'text/event-stream'});
      response.end(`event: error\ndata: ${JSON.stringify(shape.error(reaction.message, 'overloaded_error'))}\n\n`);
      return;
    default:
      if (!body.stream) return json(response, 200, shape.reply(reaction, body.model, inputTokens));
      return await streamOut(response, shape.events(reaction, body.model, inputTokens), reaction);
  }
}

async function streamOut(response: ServerResponse, events: string[], reaction: Reaction): Promise<void> {
  response.writeHead(200, {'content-type': 'text/event-stream'});
  const {pauseMs, cut} = reaction.kind === 'say' ? reaction : {pauseMs: 0, cut: false};
  const end = cut ? Math.ceil(events.length / 2) : events.length;
  for (const event of events.slice(0, end)) {
    if (response.destroyed) return;
    // A few bytes at a time, so that whatever is looked for in the stream is cut by the borders of chunks.
    for (const piece of pauseMs > 0 ? [event] : piecesOf(event, event.length / 7)) {
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    if (pauseMs > 0) await delay(pauseMs);
  }
  if (cut) response.destroy();
  else response.end();
}

function textOf(content: z.infer<typeof Content> | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

function lastUserText(body: z.infer<typeof Body>): string {
  const last = body.messages.filter((message) => message.role === 'user').at(-1);
  return textOf(last?.content);
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {'content-type': 'application/json', 'request-id': 'req_stub'});
  response.end(JSON.stringify(body));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
