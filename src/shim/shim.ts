import {connect, type Socket} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {dataHeader, encodeFrame, FrameDecoder, MAX_FRAME, SHIM_VERSION, type ShimFrame} from '../api/wire/shim.ts';
import {Process, type ShimPlace} from './process.ts';

/** Milliseconds between two dials: the sidecar may listen up to a second after this process runs. */
const DIAL = 20;
/** Milliseconds that the agent has after TERM: half of the pod's grace. */
const GRACE = 15_000;
/** Milliseconds for the last frames to leave. */
const FLUSH = 1_000;

/** The shim: dials its sidecar for as long as the container lives, and runs one process of the agent at a time. */
export class Shim {
  private readonly socketPath: string;
  private readonly process: Process;
  private socket: Socket | undefined;
  private nonce: string | undefined;
  private readonly stopping = new AbortController();
  private terminated = false;

  constructor(socketPath: string, place: ShimPlace) {
    this.socketPath = socketPath;
    this.process = new Process(place, (frame) => this.send(frame));
  }

  /** Returns when the container shall end. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const connected = await this.session();
      // The sidecar is gone: whatever the agent does now, nobody hears it.
      await this.process.end();
      if (!connected && !this.stopping.signal.aborted) {
        await delay(DIAL, undefined, {signal: this.stopping.signal}).catch(() => {});
      }
    }
  }

  /** TERM of the container: the agent has 15 s to end in good order. */
  async terminate(): Promise<void> {
    if (this.terminated) return;
    this.terminated = true;
    this.send({type: 'terminating'});
    this.process.signal('SIGTERM');
    const kill = setTimeout(() => this.process.signal('SIGKILL'), GRACE);
    await this.process.ended();
    clearTimeout(kill);
    await this.leave();
  }

  private async leave(): Promise<void> {
    this.stopping.abort();
    const socket = this.socket;
    if (socket === undefined || socket.destroyed) return;
    await Promise.race([new Promise<void>((done) => socket.end(done)), delay(FLUSH)]);
    socket.destroy();
  }

  /** One connection from dial to close; false when none came about. */
  private session(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.socketPath);
      const decoder = new FrameDecoder(MAX_FRAME.fromSidecar);
      let connected = false;
      socket.on('connect', () => {
        connected = true;
        // Told to end while it dialled: nobody else would close this.
        if (this.stopping.signal.aborted) return socket.destroy();
        this.socket = socket;
        const hello = {type: 'hello', version: SHIM_VERSION} as const;
        this.send(this.nonce === undefined ? hello : {...hello, nonce: this.nonce});
      });
      socket.on('data', (chunk: Uint8Array) => {
        try {
          for (const frame of decoder.push(chunk)) this.receive(frame);
        } catch (error) {
          socket.destroy(error instanceof Error ? error : undefined);
        }
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        if (this.socket === socket) this.socket = undefined;
        resolve(connected);
      });
    });
  }

  private send(frame: ShimFrame): void {
    const {socket} = this;
    if (socket?.writable !== true) return;
    if (!('data' in frame)) {
      socket.write(encodeFrame(frame));
      return;
    }
    socket.cork();
    socket.write(dataHeader(frame.type, frame.data.length));
    socket.write(frame.data);
    socket.uncork();
  }

  private receive(frame: ShimFrame): void {
    switch (frame.type) {
      case 'welcome':
        this.nonce = frame.nonce;
        return;
      case 'ping':
        this.send({type: 'pong', n: frame.n});
        return;
      case 'start':
        if (!this.terminated) void this.process.start(frame.spec);
        return;
      case 'stdin':
        this.process.write(frame.data);
        return;
      case 'closeStdin':
        this.process.closeInput();
        return;
      case 'credit':
        this.process.grant(frame.stream, frame.bytes);
        return;
      case 'signal':
        this.process.signal(frame.signal);
        return;
      case 'shutdown':
        this.terminated = true;
        void this.process.end().then(() => this.leave());
        return;
      default:
        return;
    }
  }
}
