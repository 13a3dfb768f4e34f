import type {ShimFrame, StartFailure, StartSpec, StreamName} from '../api/wire/shim.ts';
import {AgentProcess} from './agent-process.ts';
import {childEnvironment} from './environment.ts';
import {FileRefused, writeFiles} from './files.ts';
import {unwritableFolders} from './folders.ts';

/** Where the agent works, what its environment starts from, and the init of its container. */
export type ShimPlace = {
  home: string;
  workspace: string;
  environment: Readonly<Record<string, string>>;
  init: string;
};

/** The one process of the agent, from a start frame to its exit. */
export class Process {
  private readonly place: ShimPlace;
  private readonly send: (frame: ShimFrame) => void;
  private running: AgentProcess | undefined;
  private busy: Promise<void> = Promise.resolve();
  private idle = true;

  constructor(place: ShimPlace, send: (frame: ShimFrame) => void) {
    this.place = place;
    this.send = send;
  }

  async start(spec: StartSpec): Promise<void> {
    if (!this.idle) return this.failed(spec, 'SpawnFailed', 'a process of the agent is still running');
    this.idle = false;
    let done = (): void => {};
    this.busy = new Promise((resolve) => {
      done = () => {
        this.running = undefined;
        this.idle = true;
        resolve();
      };
    });
    const problems = unwritableFolders([this.place.workspace, this.place.home]);
    if (problems.length > 0) {
      this.failed(spec, 'VolumeNotWritable', problems.join('; '));
      return done();
    }
    try {
      await this.spawn(spec, done);
    } catch (error) {
      this.refuse(spec, error);
      done();
    }
  }

  private async spawn(spec: StartSpec, done: () => void): Promise<void> {
    writeFiles(this.place.home, spec.files);
    const env = childEnvironment(this.place.environment, spec.env, this.place);
    this.running = await AgentProcess.start(
      {argv: spec.argv, env, cwd: this.place.workspace, init: this.place.init},
      {
        output: (stream, data) => this.send({type: stream, data}),
        inputTaken: (bytes) => this.send({type: 'credit', stream: 'stdin', bytes}),
        exited: (exit) => {
          this.send({type: 'exited', run: spec.run, ...exit});
          done();
        },
      },
    );
    this.send({type: 'started', run: spec.run, pid: this.running.pid});
  }

  private refuse(spec: StartSpec, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (error instanceof FileRefused) {
      this.failed(spec, 'FileRefused', message);
      return;
    }
    if (code !== 'ENOENT' && code !== 'EACCES') {
      this.failed(spec, 'SpawnFailed', message);
      return;
    }
    const cause = code === 'ENOENT' ? 'it, or the interpreter that it names, does not exist' : 'it is not executable';
    this.failed(spec, 'CommandNotFound', `command ${JSON.stringify(spec.argv[0] ?? '')} cannot be started: ${cause}`);
  }

  private failed(spec: StartSpec, reason: StartFailure, message: string): void {
    this.send({type: 'startFailed', run: spec.run, reason, message: message.slice(0, 1024)});
  }

  write(data: Uint8Array): void {
    this.running?.write(data);
  }

  closeInput(): void {
    this.running?.closeInput();
  }

  grant(stream: StreamName, bytes: number): void {
    if (stream !== 'stdin') this.running?.grant(stream, bytes);
  }

  signal(signal: NodeJS.Signals): void {
    this.running?.signal(signal);
  }

  /** Resolves when no process runs. */
  ended(): Promise<void> {
    return this.busy;
  }

  /** Kills the group of the process, also of one that is just being started, and waits for its end. */
  async end(): Promise<void> {
    while (!this.idle) {
      this.signal('SIGKILL');
      await Promise.race([this.busy, new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }
}
