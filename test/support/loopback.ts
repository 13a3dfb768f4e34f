import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Launch} from '../../src/api/launch.ts';
import {startLoopback} from '../../src/runner/loopback/index.ts';
import type {Log, Loopback} from '../../src/runner/loopback/ports.ts';

/** Key of the attempt in tests. */
export const ATTEMPT_KEY = 'attempt-key-0123456789';
/** The provider's key: no test may ever find it on the agent's side. */
export const REAL_KEY = 'sk-real-provider-key-42';

/** A logger that keeps its lines, so that a test can search them for secrets. */
export function keptLog(): Log & {lines: string[]} {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(JSON.stringify({...fields, message}));
  return {lines, debug: keep, info: keep, warn: keep, error: keep};
}

/** Launch of an agent, with or without a model. */
export function launchOf(model?: Launch['model']): Launch {
  return {
    command: ['agent'],
    args: [],
    env: [],
    files: [],
    harness: {noReload: false, assumeMcpHttp: false},
    ...(model ? {model} : {}),
    limits: {start: 60, turn: 60},
  };
}

/** What a test says of its loopback. */
export interface TestLoopbackOptions {
  model?: Launch['model'];
  gatewayPort?: number;
  egressPort?: number;
  /** Files in the mounted Secret and the mounted ConfigMap. */
  secret?: Record<string, string>;
  ca?: string;
}

/** A loopback on free ports, and the folder of its mounts. */
export interface TestLoopback {
  loopback: Loopback;
  log: ReturnType<typeof keptLog>;
  port: number;
  proxyPort: number;
  /** Replaces a file of the mounted Secret. */
  writeSecret(name: string, value: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a loopback for a test. */
export async function startTestLoopback(options: TestLoopbackOptions): Promise<TestLoopback> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-loopback-'));
  const secretsFolder = join(folder, 'secret');
  const caFolder = join(folder, 'ca');
  await Promise.all([mkdir(secretsFolder), mkdir(caFolder)]);
  const writeSecret = (name: string, value: string) => writeFile(join(secretsFolder, name), value);
  await Promise.all(Object.entries(options.secret ?? {}).map(([name, value]) => writeSecret(name, value)));
  if (options.ca !== undefined) await writeFile(join(caFolder, 'ca.crt'), options.ca);
  const log = keptLog();
  const loopback = await startLoopback({
    launch: launchOf(options.model),
    namespace: 'team-a',
    gateway: new URL(`http://127.0.0.1:${options.gatewayPort ?? 1}`),
    egress: {host: '127.0.0.1', port: options.egressPort ?? 1},
    tokens: {read: async (audience) => `token-of-${audience}`},
    secretsFolder,
    caFolder,
    key: ATTEMPT_KEY,
    log,
    ports: {loopback: 0, proxy: 0, dns: 0},
  });
  return {
    loopback,
    log,
    port: Number(new URL(loopback.mcpUrl).port),
    proxyPort: Number(new URL(loopback.proxyUrl).port),
    writeSecret,
    close: async () => {
      await loopback.close();
      await rm(folder, {recursive: true, force: true});
    },
  };
}
