import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {z} from 'zod';

/** How an MCP server over standard input and output is started. */
export interface StdioServer {
  command: string;
  args: string[];
  env: Readonly<Record<string, string>>;
}

const Numbered = z.looseObject({id: z.number()});

/** A started MCP server: one line for each message, answers by number. */
export class StdioLink {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();

  constructor({command, args, env}: StdioServer, log: (text: string) => void) {
    this.child = spawn(command, args, {env, stdio: ['pipe', 'pipe', 'pipe']});
    this.child.stderr.on('data', (text) => log(`MCP server: ${String(text).trim()}`));
    this.child.stdin.on('error', () => {});
    this.child.once('error', (error) => this.failAll(error));
    this.child.once('exit', (code) => this.failAll(new Error(`the MCP server ended with code ${code}`)));
    createInterface({input: this.child.stdout}).on('line', (line) => this.take(line));
  }

  /** Sends one request and waits for its answer; a call that is given up is cancelled. */
  async request(message: {id: number; method: string}, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const answer = Promise.withResolvers<unknown>();
    this.waiting.set(message.id, answer);
    const give = () => {
      this.send({method: 'notifications/cancelled', params: {requestId: message.id}});
      answer.reject(signal.reason);
    };
    signal.addEventListener('abort', give, {once: true});
    try {
      this.send(message);
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', give);
      this.waiting.delete(message.id);
    }
  }

  /** The end of its input is the polite way to stop a server. */
  close(): void {
    this.child.stdin.end();
  }

  private send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
  }

  private take(line: string): void {
    const message: unknown = JSON.parse(line);
    const numbered = Numbered.safeParse(message);
    if (numbered.success) this.waiting.get(numbered.data.id)?.resolve(message);
  }

  private failAll(error: Error): void {
    for (const answer of this.waiting.values()) answer.reject(error);
  }
}
