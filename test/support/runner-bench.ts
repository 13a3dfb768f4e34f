import {type ChildProcess, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Launch} from '../../src/api/launch.ts';
import {RUNNER_ENV} from '../../src/api/pod.ts';
import {RunnerGateway} from './runner-gateway.ts';

const file = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** A runner and a shim as processes of their own, with their folders and a gateway, but without a cluster. */
export class RunnerBench {
  readonly gateway = new RunnerGateway('pod-uid');
  readonly folder = mkdtempSync(path.join(tmpdir(), 'carrel-runner-'));
  runner: ChildProcess | undefined;
  shim: ChildProcess | undefined;
  log = '';
  private environment: NodeJS.ProcessEnv = {};

  async start(agentMode = 'normal', change: Partial<Launch> = {}): Promise<void> {
    await this.prepare(agentMode, change);
    this.startShim();
    this.startRunner();
  }

  /** Folders, gateway and environment; no process yet. */
  async prepare(agentMode = 'normal', change: Partial<Launch> = {}): Promise<void> {
    for (const name of ['state', 'tokens', 'workspace', 'home', 'run']) mkdirSync(path.join(this.folder, name));
    for (const audience of ['mcp', 'runner', 'egress'] as const) this.renewToken(audience, 'token');
    const port = await this.gateway.listen();
    const closed = await closedPort();
    const launch: Launch = {
      command: [process.execPath, file('./small-agent.ts'), agentMode],
      args: [],
      env: [{name: 'FLAVOUR', value: 'plain'}],
      files: [{path: '.config/small/agent.json', content: `{"url":"\${CARREL_MCP_URL}"}`}],
      harness: {noReload: false, assumeMcpHttp: false},
      limits: {start: 120, turn: 600},
      ...change,
    };
    this.environment = {
      PATH: process.env['PATH'],
      [RUNNER_ENV.namespace]: 'default',
      [RUNNER_ENV.session]: 'demo',
      [RUNNER_ENV.sessionUid]: 'session-uid',
      [RUNNER_ENV.attempt]: '1',
      [RUNNER_ENV.podUid]: 'pod-uid',
      [RUNNER_ENV.gateway]: `http://127.0.0.1:${port}`,
      [RUNNER_ENV.gatewayCanary]: `127.0.0.1:${closed}`,
      [RUNNER_ENV.egress]: `127.0.0.1:${port}`,
      [RUNNER_ENV.egressCanary]: `127.0.0.1:${closed}`,
      [RUNNER_ENV.launch]: JSON.stringify(launch),
      CARREL_RUNNER_SOCKET: path.join(this.folder, 'run/shim.sock'),
      CARREL_RUNNER_STATE: path.join(this.folder, 'state'),
      CARREL_RUNNER_TOKENS: path.join(this.folder, 'tokens'),
      CARREL_RUNNER_WORKSPACE: path.join(this.folder, 'workspace'),
      CARREL_RUNNER_BRIDGE: JSON.stringify([process.execPath, file('../../src/bin/mcp-stdio.ts')]),
      CARREL_RUNNER_PORTS: '0,0,0',
    };
  }

  startRunner(): void {
    this.runner = this.spawn('../../src/bin/runner.ts', this.environment);
  }

  startShim(): void {
    this.shim = this.spawn('../../src/bin/shim.ts', {
      PATH: process.env['PATH'],
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      LD_PRELOAD: '',
      CARREL_SHIM_SOCKET: path.join(this.folder, 'run/shim.sock'),
      CARREL_SHIM_WORKSPACE: path.join(this.folder, 'workspace'),
      CARREL_SHIM_HOME: path.join(this.folder, 'home'),
    });
  }

  /** Replaces a token, as the kubelet does. */
  renewToken(audience: 'mcp' | 'runner' | 'egress', token: string): void {
    const file = path.join(this.folder, 'tokens', audience);
    writeFileSync(`${file}.new`, `${token}\n`);
    renameSync(`${file}.new`, file);
  }

  /** Resolves with the exit code of a process. */
  exit(child: ChildProcess | undefined): Promise<number | null> {
    if (child === undefined || child.exitCode !== null) return Promise.resolve(child?.exitCode ?? null);
    return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  async stop(): Promise<void> {
    for (const child of [this.runner, this.shim]) {
      if (child?.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await new Promise((resolve) => child.once('exit', resolve));
      }
    }
    this.gateway.close();
    rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }

  private spawn(entry: string, env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(process.execPath, [file(entry)], {env, stdio: ['ignore', 'pipe', 'pipe']});
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (this.log += String(data)));
    return child;
  }
}

/** A port of this machine where nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
