import {randomBytes} from 'node:crypto';
import {rmSync} from 'node:fs';
import {createServer, type Server, type Socket} from 'node:net';
import {
  encodeFrame,
  FrameDecoder,
  MAX_CONTROL_PER_SECOND,
  MAX_FRAME,
  PING,
  SHIM_VERSION,
  type ShimFrame,
  ShimProtocolError,
  type StartSpec,
} from '../api/wire/shim.ts';
import {type AgentProcess, RemoteProcess} from './agent-process.ts';
import type {Log} from './loopback/ports.ts';

/** What happens at the other end of the socket. */
export type ShimEvents = {
  connected(): void;
  /** `silent`: it sent nothing for 15 s. */
  lost(why: 'closed' | 'silent' | 'protocol'): void;
  terminating(): void;
};

/** The nonce of the one shim, kept over restarts of the runner. */
export type NonceStore = {get(): string | undefined; set(nonce: string): void};

/** The runner's side of the shim protocol: listens, and keeps exactly one live connection. */
export class ShimLink {
  private readonly server: Server;
  private readonly nonces: NonceStore;
  private readonly events: ShimEvents;
  private readonly log: Log;
  private live: Connection | undefined;
  private runs = 0;
  /** No shim shall run any more, whenever it comes. */
  private ending = false;

  constructor(options: {nonces: NonceStore; events: ShimEvents; log: Log}) {
    this.nonces = options.nonces;
    this.events = options.events;
    this.log = options.log;
    this.server = createServer((socket) => this.accept(socket));
  }

  /** Listens at `path`; a file that a killed runner left is replaced. Every user of the pod may dial it. */
  listen(path: string): Promise<void> {
    rmSync(path, {force: true});
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      const before = process.umask(0);
      this.server.listen(path, () => resolve());
      process.umask(before);
    });
  }

  /** A shim is there that can start an agent. */
  get connected(): boolean {
    return this.live?.welcomed === true && !this.ending;
  }

  /** Starts the command and resolves once it runs; rejects with `StartFailed`. */
  start(spec: Omit<StartSpec, 'run'>): Promise<AgentProcess> {
    if (this.live === undefined) return Promise.reject(new Error('the shim is not connected'));
    this.runs += 1;
    return this.live.start({...spec, run: this.runs});
  }

  /** Ends the agent's container, also one that comes up only now; the pod then completes. */
  shutdown(): void {
    this.ending = true;
    this.live?.send({type: 'shutdown'});
  }

  /**
   * Ends the agent's container only where no shim was ever welcomed: the runner of a pod that ends before that container is
   * up. A shim that merely connects again finds the runner that the kubelet starts in this one's place.
   */
  shutdownUnmet(): void {
    if (this.nonces.get() === undefined) this.shutdown();
  }

  /** Cuts the connection: the shim kills the agent's group, waits for its end, and dials again. */
  cut(): void {
    this.live?.close('closed');
  }

  close(): void {
    this.server.close();
    this.live?.close('closed');
  }

  private accept(socket: Socket): void {
    if (this.live !== undefined) {
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.nonces, {
      connected: () => {
        if (this.ending) connection.send({type: 'shutdown'});
        else this.events.connected();
      },
      terminating: () => this.events.terminating(),
      lost: (why) => {
        if (this.live !== connection) return;
        this.live = undefined;
        this.log.info({why}, 'shim disconnected');
        if (connection.welcomed) this.events.lost(why);
      },
    });
    this.live = connection;
  }
}

class Connection {
  welcomed = false;
  private readonly socket: Socket;
  private readonly decoder = new FrameDecoder(MAX_FRAME.fromShim);
  private readonly nonces: NonceStore;
  private readonly events: ShimEvents;
  private nonce = '';
  private process: RemoteProcess | undefined;
  private heard = performance.now();
  private beaten = performance.now();
  private second = {start: performance.now(), frames: 0};
  private readonly timer: NodeJS.Timeout;
  private closed = false;
  private pings = 0;

  constructor(socket: Socket, nonces: NonceStore, events: ShimEvents) {
    this.socket = socket;
    this.nonces = nonces;
    this.events = events;
    socket.on('data', (chunk: Uint8Array) => this.receive(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.close('closed'));
    this.timer = setInterval(() => this.beat(), PING.every);
  }

  send(frame: ShimFrame): void {
    if (this.socket.writable) this.socket.write(encodeFrame(frame));
  }

  start(spec: StartSpec): Promise<AgentProcess> {
    this.process = new RemoteProcess(spec.run, (frame) => this.send(frame));
    this.send({type: 'start', spec});
    return this.process.started;
  }

  close(why: 'closed' | 'silent' | 'protocol'): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.timer);
    this.socket.destroy();
    this.process?.lost();
    this.events.lost(why);
  }

  private beat(): void {
    const now = performance.now();
    // This process itself was stopped: what the shim said meanwhile still waits to be read.
    if (now - this.beaten > 2 * PING.every) this.heard = now;
    this.beaten = now;
    if (now - this.heard > PING.dead) {
      this.close('silent');
      return;
    }
    this.pings += 1;
    this.send({type: 'ping', n: this.pings});
  }

  private receive(chunk: Uint8Array): void {
    this.heard = performance.now();
    try {
      for (const frame of this.decoder.push(chunk)) {
        if (!('data' in frame) || frame.data.length === 0) this.countControl();
        this.handle(frame);
        if (this.closed) return;
      }
    } catch (error) {
      if (!(error instanceof ShimProtocolError)) throw error;
      this.close('protocol');
    }
  }

  private countControl(): void {
    if (this.heard - this.second.start > 1_000) this.second = {start: this.heard, frames: 0};
    this.second.frames += 1;
    if (this.second.frames > MAX_CONTROL_PER_SECOND) throw new ShimProtocolError('too many frames');
  }

  private handle(frame: ShimFrame): void {
    if (!this.welcomed) {
      if (frame.type === 'hello') {
        this.welcome(frame);
        return;
      }
      if (frame.type === 'pong' && this.nonce !== '') {
        this.confirm();
        return;
      }
      throw new ShimProtocolError(`${frame.type} before hello`);
    }
    switch (frame.type) {
      case 'pong':
        return;
      case 'terminating':
        this.events.terminating();
        return;
      case 'started':
      case 'startFailed':
      case 'exited':
      case 'stdout':
      case 'stderr':
      case 'credit':
        if (this.process === undefined) throw new ShimProtocolError(`${frame.type} before a start`);
        this.process.receive(frame);
        return;
      default:
        throw new ShimProtocolError(`${frame.type} is not for a shim to send`);
    }
  }

  private welcome(hello: {version: number; nonce?: string}): void {
    if (hello.version !== SHIM_VERSION) throw new ShimProtocolError(`version ${hello.version} is not spoken here`);
    if (this.nonce !== '') throw new ShimProtocolError('a second hello');
    const known = this.nonces.get();
    if (known !== undefined && hello.nonce !== known) throw new ShimProtocolError('another nonce');
    this.nonce = known ?? randomBytes(16).toString('hex');
    this.send({type: 'welcome', version: SHIM_VERSION, nonce: this.nonce});
    this.beat();
  }

  // Only now is the nonce binding: a shim that was cut off before it heard the welcome may come again without.
  private confirm(): void {
    if (this.nonces.get() === undefined) this.nonces.set(this.nonce);
    this.welcomed = true;
    this.events.connected();
  }
}
