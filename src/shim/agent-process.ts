import {type ChildProcessByStdio, spawn} from 'node:child_process';
import type {Readable, Writable} from 'node:stream';
import {MAX_DATA, STREAM_WINDOW} from '../api/wire/shim.ts';
import {outOfMemoryKills} from './memory.ts';
import {killStragglers} from './stragglers.ts';

/** How a process ended. */
export type Exit = {code?: number; signal?: string; outOfMemory: boolean};

/** What a running process tells. */
export type ProcessEvents = {
  output(stream: 'stdout' | 'stderr', data: Uint8Array): void;
  /** So many bytes of input were taken by the process. */
  inputTaken(bytes: number): void;
  exited(exit: Exit): void;
};

/** Milliseconds in which output may still be read after the process ended; a child that keeps the pipe open is cut off. */
const DRAIN = 2_000;

/** What is started, and the init of the container that it runs in. */
export type Command = {argv: readonly string[]; env: Record<string, string>; cwd: string; init: string};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** One process of the agent in a group of its own, with output under credit. */
export class AgentProcess {
  readonly pid: number;
  private readonly child: Child;
  private readonly init: string;
  private readonly events: ProcessEvents;
  private readonly credit = {stdout: STREAM_WINDOW, stderr: STREAM_WINDOW};
  private readonly killsBefore = outOfMemoryKills();
  private ended = false;

  private constructor({child, pid, init}: {child: Child; pid: number; init: string}, events: ProcessEvents) {
    this.init = init;
    this.child = child;
    this.pid = pid;
    this.events = events;
    child.stdin.on('error', () => {});
    this.pump('stdout', child.stdout);
    this.pump('stderr', child.stderr);
    child.once('exit', (code, signal) => this.finish(code, signal));
  }

  /** Starts the command; rejects with the error of the operating system (`ENOENT`, `EACCES`). */
  static start(command: Command, events: ProcessEvents): Promise<AgentProcess> {
    const [file, ...args] = command.argv;
    return new Promise((resolve, reject) => {
      const child = spawn(file ?? '', args, {
        cwd: command.cwd,
        env: command.env,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.once('error', reject);
      child.once('spawn', () => {
        if (child.pid === undefined) return reject(new Error('the process has no id'));
        resolve(new AgentProcess({child, pid: child.pid, init: command.init}, events));
      });
    });
  }

  write(data: Uint8Array): void {
    if (this.ended || this.child.stdin.destroyed) {
      this.events.inputTaken(data.length);
      return;
    }
    this.child.stdin.write(data, () => this.events.inputTaken(data.length));
  }

  closeInput(): void {
    this.child.stdin.end();
  }

  grant(stream: 'stdout' | 'stderr', bytes: number): void {
    this.credit[stream] = Math.min(this.credit[stream] + bytes, STREAM_WINDOW);
    this.drain(stream);
  }

  /** Signals the whole group, also after its leader ended. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is empty.
    }
  }

  private pump(stream: 'stdout' | 'stderr', source: Readable): void {
    source.on('readable', () => this.drain(stream));
    source.on('error', () => {});
  }

  private drain(stream: 'stdout' | 'stderr'): void {
    const source = this.child[stream];
    while (this.credit[stream] > 0) {
      const available = Math.min(source.readableLength, this.credit[stream], MAX_DATA);
      const data: unknown = available > 0 ? source.read(available) : source.read();
      if (!(data instanceof Uint8Array)) return;
      this.credit[stream] -= data.length;
      this.events.output(stream, data);
    }
  }

  private finish(code: number | null, signal: string | null): void {
    const outOfMemory = outOfMemoryKills() > this.killsBefore;
    this.signal('SIGKILL');
    // The exit is told when nothing of it is left, so that no next start meets it.
    const alone = killStragglers(this.init);
    const report = async (): Promise<void> => {
      await alone;
      if (this.ended) return;
      this.ended = true;
      clearTimeout(cut);
      this.child.stdout.destroy();
      this.child.stderr.destroy();
      this.events.exited({...(code === null ? {} : {code}), ...(signal === null ? {} : {signal}), outOfMemory});
    };
    const cut = setTimeout(() => void report(), DRAIN);
    this.child.once('close', () => void report());
  }
}
