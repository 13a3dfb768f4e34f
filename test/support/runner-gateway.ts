import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {type Desired, EventBatch, type RunnerEvent, type TranscriptRecord} from '../../src/api/wire/runner.ts';
import {desiredDocument} from './desired-document.ts';

/** The gateway's side of the runner API in one process: it keeps events exactly once, and hands out one document. */
export class RunnerGateway {
  readonly events: {epoch: number; n: number; event: RunnerEvent}[] = [];
  /** Status to answer events and streams with, instead of the real thing. */
  refuseWith: number | undefined;
  /** Paths that were refused. */
  readonly refused: string[] = [];
  /** Authorization of the last request to the runner API. */
  bearer: string | undefined;
  records: TranscriptRecord[] = [];
  private readonly server: Server;
  private readonly acked = new Map<number, number>();
  private readonly streams = new Set<ServerResponse>();
  private readonly waits = new Set<() => void>();
  private document: Desired;

  constructor(podUid: string) {
    this.document = desiredDocument({podUid, session: {name: 'demo', uid: 'session-uid'}});
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return address.port;
  }

  /** Replaces parts of the desired document and sends it. */
  want(change: Partial<Desired>): void {
    this.document = {...this.document, ...change, generation: this.document.generation + 1};
    for (const stream of this.streams) stream.write(`${JSON.stringify(this.document)}\n`);
  }

  /** Ends the streams, as a gateway that is replaced does; the runner opens another. */
  endStreams(): void {
    for (const stream of this.streams) stream.end();
  }

  private drop(): void {
    const {turn: _over, ...document} = this.document;
    this.document = document;
    this.want({});
  }

  /** Orders a turn; `sequence` also names it. */
  turn(sequence: number, text: string): void {
    this.want({turn: {name: `turn-${sequence}`, uid: `uid-${sequence}`, sequence, input: [{text}], preface: []}});
  }

  /** The first event that passes, now or later. */
  async find<T extends RunnerEvent['type']>(
    type: T,
    passes: (event: Extract<RunnerEvent, {type: T}>) => boolean = () => true,
  ): Promise<Extract<RunnerEvent, {type: T}>> {
    for (;;) {
      for (const {event} of this.events) if (isType(event, type) && passes(event)) return event;
      await new Promise<void>((resolve) => this.waits.add(resolve));
    }
  }

  finished(sequence: number): ReturnType<typeof this.find<'turnFinished'>> {
    return this.find('turnFinished', (event) => event.turnUid === `uid-${sequence}`);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/runner/')) this.bearer = request.headers.authorization;
    if (this.refuseWith !== undefined) {
      this.refused.push(request.url ?? '');
      return void response.writeHead(this.refuseWith).end('refused');
    }
    if (request.url === '/runner/v1/desired') {
      response.writeHead(200, {'content-type': 'application/x-ndjson'});
      response.write(`${JSON.stringify(this.document)}\n`);
      this.streams.add(response);
      response.on('close', () => this.streams.delete(response));
      return;
    }
    if (request.url === '/runner/v1/context') return void response.end(JSON.stringify({records: this.records}));
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.url === '/mcp') return void answerMcp(response, body);
    const batch = EventBatch.parse(JSON.parse(body));
    const before = this.acked.get(batch.epoch) ?? 0;
    if (batch.from > before + 1) throw new Error(`gap: ${batch.from} after ${before}`);
    batch.events.forEach((event, index) => {
      const n = batch.from + index;
      if (n > before) this.events.push({epoch: batch.epoch, n, event});
      // A turn that has ended, and whose end is stored, is named no more.
      if (event.type === 'turnFinished' && this.document.turn?.uid === event.turnUid) this.drop();
    });
    this.acked.set(batch.epoch, Math.max(before, batch.from + batch.events.length - 1));
    response.end(JSON.stringify({acked: this.acked.get(batch.epoch)}));
    for (const wake of this.waits) wake();
    this.waits.clear();
  }
}

/** One tool, so that an agent has something to list. */
function answerMcp(response: ServerResponse, body: string): void {
  const {id, method}: {id: number; method: string} = JSON.parse(body);
  const tools = [{name: 'get_session', description: 'x', inputSchema: {type: 'object'}}];
  const result =
    method === 'tools/list'
      ? {tools}
      : {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'test', version: '1'}};
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({jsonrpc: '2.0', id, result}));
}

function isType<T extends RunnerEvent['type']>(event: RunnerEvent, type: T): event is Extract<RunnerEvent, {type: T}> {
  return event.type === type;
}
