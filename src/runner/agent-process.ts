import {setImmediate as immediate} from 'node:timers/promises';
import {MAX_DATA, type ShimFrame, ShimProtocolError, STREAM_WINDOW, type StartFailure} from '../api/wire/shim.ts';
import type {Exit} from '../domain/runner/exit.ts';

/** The shim could not start the command. */
export class StartFailed extends Error {
  override name = 'StartFailed';
  readonly reason: StartFailure;

  constructor(reason: StartFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A process of the agent, seen from the runner. */
export type AgentProcess = {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Resolves when it ended; `undefined` when the connection to the shim was lost, which ends it too. */
  readonly exited: Promise<Exit | undefined>;
  /** Last output on standard error, as it came. */
  stderrTail(): string;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  closeInput(): void;
};

/** What a shim sends of a process. */
export type ProcessFrame = Extract<
  ShimFrame,
  {type: 'started' | 'startFailed' | 'exited' | 'stdout' | 'stderr' | 'credit'}
>;

const KEEP_STDERR = 4_096;
/** Bytes of output that are still taken from a process that leaves its input standing. */
const UNREAD = 1_048_576;
/** Milliseconds after which read bytes of standard error are granted again: 256 KiB in so long is the most that is read. */
const STDERR_PAUSE = 100;

/** Process behind a shim connection: output as streams under credit, checked for order and size. */
export class RemoteProcess implements AgentProcess {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly started: Promise<AgentProcess>;
  readonly exited: Promise<Exit | undefined>;
  private readonly run: number;
  private readonly send: (frame: ShimFrame) => void;
  private readonly start = Promise.withResolvers<AgentProcess>();
  private readonly exit = Promise.withResolvers<Exit | undefined>();
  private phase: 'starting' | 'running' | 'ended' = 'starting';
  private readonly output: Uint8Array[] = [];
  private outputWaits: (() => void) | undefined;
  /** Bytes of output that the shim may still send. */
  private readonly window = {stdout: STREAM_WINDOW, stderr: STREAM_WINDOW};
  /** Bytes of output that were read and not granted again. */
  private consumed = 0;
  private inputCredit = STREAM_WINDOW;
  /** Set while input waits for the process to take some. */
  private inputStalled: PromiseWithResolvers<void> | undefined;
  /** Bytes of output since its input has been standing. */
  private unread = 0;
  private stderr = '';
  private stderrSeen = 0;
  private stderrTimer: NodeJS.Timeout | undefined;

  constructor(run: number, send: (frame: ShimFrame) => void) {
    this.run = run;
    this.send = send;
    this.started = this.start.promise;
    this.exited = this.exit.promise;
    this.stdout = new ReadableStream<Uint8Array>({pull: (controller) => this.pull(controller)}, {highWaterMark: 0});
    this.stdin = new WritableStream<Uint8Array>({write: (data) => this.write(data)});
  }

  receive(frame: ProcessFrame): void {
    switch (frame.type) {
      case 'stdout':
        this.take('stdout', frame.data);
        this.output.push(frame.data);
        this.outputWaits?.();
        return;
      case 'stderr':
        this.take('stderr', frame.data);
        this.keepStderr(frame.data);
        return;
      case 'credit':
        if (frame.stream !== 'stdin') throw new ShimProtocolError('credit for its own output');
        this.inputCredit = Math.min(this.inputCredit + frame.bytes, STREAM_WINDOW);
        this.inputMoves();
        return;
      case 'started':
        this.expect(frame.run, 'starting');
        this.phase = 'running';
        this.start.resolve(this);
        return;
      case 'startFailed':
        this.expect(frame.run, 'starting');
        this.end(undefined);
        this.start.reject(new StartFailed(frame.reason, frame.message));
        return;
      case 'exited': {
        this.expect(frame.run, 'running');
        const {type: _type, run: _run, ...exit} = frame;
        this.end(exit);
        return;
      }
    }
  }

  /** The connection is gone, and with it the process. */
  lost(): void {
    if (this.phase === 'starting') {
      this.start.reject(new StartFailed('SpawnFailed', 'the connection to the shim was lost during the start'));
    }
    if (this.phase !== 'ended') this.end(undefined);
  }

  stderrTail(): string {
    return this.stderr;
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.phase === 'running') this.send({type: 'signal', signal});
  }

  closeInput(): void {
    if (this.phase === 'running') this.send({type: 'closeStdin'});
  }

  private end(exit: Exit | undefined): void {
    this.phase = 'ended';
    clearTimeout(this.stderrTimer);
    this.outputWaits?.();
    this.inputMoves();
    this.exit.resolve(exit);
  }

  private expect(run: number, phase: 'starting' | 'running'): void {
    if (run !== this.run || this.phase !== phase) throw new ShimProtocolError('out of order');
  }

  private take(stream: 'stdout' | 'stderr', data: Uint8Array): void {
    if (this.phase === 'ended') throw new ShimProtocolError('output of a process that ended');
    this.window[stream] -= data.length;
    if (this.window[stream] < 0) throw new ShimProtocolError(`more ${stream} than was granted`);
  }

  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.output.length === 0) {
      if (this.phase === 'ended') return controller.close();
      await new Promise<void>((resolve) => {
        this.outputWaits = resolve;
      });
    }
    await this.answersTaken();
    const chunk = this.output.shift();
    if (chunk === undefined) return;
    this.unread += chunk.length;
    controller.enqueue(chunk);
    this.consumed += chunk.length;
    if (this.consumed < MAX_DATA || this.phase === 'ended') return;
    this.window.stdout += this.consumed;
    this.send({type: 'credit', stream: 'stdout', bytes: this.consumed});
    this.consumed = 0;
  }

  /**
   * An agent that asks without end and reads no answer would fill the memory with answers: its output stands until its input
   * moves. Looked at again after all that waits was written, for a little credit may not do for all of it.
   */
  private async answersTaken(): Promise<void> {
    while (this.inputStalled !== undefined && this.unread >= UNREAD) {
      await this.inputStalled.promise;
      await immediate();
    }
    if (this.inputStalled === undefined) this.unread = 0;
  }

  private inputMoves(): void {
    this.inputStalled?.resolve();
    this.inputStalled = undefined;
  }

  private keepStderr(data: Uint8Array): void {
    this.stderr = (this.stderr + Buffer.from(data).toString('utf8')).slice(-KEEP_STDERR);
    this.stderrSeen += data.length;
    this.stderrTimer ??= setTimeout(() => {
      this.stderrTimer = undefined;
      const bytes = this.stderrSeen;
      this.stderrSeen = 0;
      this.window.stderr += bytes;
      if (this.phase !== 'ended') this.send({type: 'credit', stream: 'stderr', bytes});
    }, STDERR_PAUSE);
  }

  private async write(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; ) {
      if (this.phase === 'ended') throw new Error('the agent ended');
      const bytes = Math.min(this.inputCredit, MAX_DATA, data.length - at);
      if (bytes === 0) {
        this.inputStalled ??= Promise.withResolvers();
        await this.inputStalled.promise;
        continue;
      }
      this.inputCredit -= bytes;
      this.send({type: 'stdin', data: data.slice(at, at + bytes)});
      at += bytes;
    }
  }
}
