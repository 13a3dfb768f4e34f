import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {z} from 'zod';
import {desiredDocument} from '../../test/support/desired-document.ts';
import type {Exit} from '../domain/runner/exit.ts';
import {type AgentProcess, StartFailed} from './agent-process.ts';
import {Journal} from './journal.ts';
import type {Loopback} from './loopback/ports.ts';
import {Questions} from './questions.ts';
import {Reporter} from './reporter.ts';
import {StateFile} from './state.ts';
import {Supervisor} from './supervisor.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-supervisor-'));
});
afterEach(() => rmSync(folder, {recursive: true}));

const Asked = z.object({id: z.number(), method: z.string()});
const quiet = {debug() {}, info() {}, warn() {}, error() {}};
const loopback: Loopback = {
  mcpUrl: 'http://127.0.0.1:1/mcp',
  mcpToken: 'key',
  modelUrl: '',
  modelKey: '',
  modelName: '',
  proxyUrl: '',
  toolsListed: () => true,
  forgetTools() {},
  onToolsListed: () => () => {},
  modelUsage: () => ({inputTokens: 0, outputTokens: 0, requests: 0}),
  lastModelError: () => undefined,
  findings: () => [],
  close: async () => {},
};

/** A process that opens a session named so, once it is asked; `answer` lets it. */
function fakeProcess(name: string) {
  const out = new TransformStream<Uint8Array, Uint8Array>();
  const writer = out.writable.getWriter();
  const gate = Promise.withResolvers<void>();
  const exit = Promise.withResolvers<Exit | undefined>();
  const signals: string[] = [];
  const answers: Record<string, object> = {initialize: {protocolVersion: 1}, 'session/new': {sessionId: name}};
  const process: AgentProcess = {
    stdin: new WritableStream<Uint8Array>({
      write: async (bytes) => {
        const {id, method} = Asked.parse(JSON.parse(Buffer.from(bytes).toString()));
        await gate.promise;
        void writer.write(Buffer.from(`${JSON.stringify({jsonrpc: '2.0', id, result: answers[method]})}\n`));
      },
    }),
    stdout: out.readable,
    exited: exit.promise,
    stderrTail: () => '',
    signal: (signal) => void signals.push(signal),
    closeInput() {},
  };
  return {process, signals, answer: () => gate.resolve(), end: () => exit.resolve(undefined)};
}

/** A supervisor whose link starts processes when the test says so. */
function start() {
  const journal = new Journal(folder, 1);
  const reporter = new Reporter(journal, () => new Date(0));
  const state = new StateFile(folder);
  const starts: PromiseWithResolvers<AgentProcess>[] = [];
  const link = {
    connected: true,
    start() {
      const started = Promise.withResolvers<AgentProcess>();
      starts.push(started);
      return started.promise;
    },
    cut() {},
  };
  const supervisor = new Supervisor({
    launch: {
      command: ['agent'],
      args: [],
      env: [],
      files: [],
      harness: {noReload: false, assumeMcpHttp: false},
      limits: {start: 600, turn: 600},
    },
    workspace: '/workspace',
    bridge: ['/carrel/bin/node'],
    link,
    loopback,
    questions: new Questions(reporter, state),
    reporter,
    journal,
    gateway: {context: async () => ({records: []})},
    state,
    log: quiet,
    now: () => 0,
    left() {},
  });
  const reports = () =>
    (journal.batch()?.events ?? []).flatMap((e) => (e.type === 'report' ? [e.reason ?? e.agentSessionId] : []));
  supervisor.want(desiredDocument(), true);
  return {supervisor, starts, reports};
}

test('an agent is started once, however often the isolation is confirmed', async () => {
  const {supervisor, starts, reports} = start();
  supervisor.isolated();
  supervisor.isolated();
  expect(starts).toHaveLength(1);
  const {process, answer} = fakeProcess('one');
  answer();
  starts[0]?.resolve(process);
  await expect.poll(reports).toEqual(['one']);
  supervisor.isolated();
  expect(starts).toHaveLength(1);
});

test('a start that was overtaken ends before the next one, and its failure is not that one', async () => {
  const {supervisor, starts, reports} = start();
  supervisor.isolated();
  supervisor.notIsolated(true, 'open');
  supervisor.isolated();
  expect(starts).toHaveLength(1);
  starts[0]?.reject(new StartFailed('SpawnFailed', 'the connection to the shim was lost during the start'));
  await expect.poll(() => starts).toHaveLength(2);
  const {process, answer} = fakeProcess('two');
  answer();
  starts[1]?.resolve(process);
  await expect.poll(reports).toEqual(['NetworkNotIsolated', 'two']);
});

test('a process that comes up after it was overtaken is killed, and the next start waits until it is gone', async () => {
  const {supervisor, starts, reports} = start();
  supervisor.isolated();
  const late = fakeProcess('late');
  starts[0]?.resolve(late.process);
  await new Promise(setImmediate);
  supervisor.notIsolated(true, 'open');
  supervisor.isolated();
  late.answer();
  await expect.poll(() => late.signals).toEqual(['SIGKILL']);
  expect(starts).toHaveLength(1);
  late.end();
  await expect.poll(() => starts).toHaveLength(2);
  const {process, answer} = fakeProcess('two');
  answer();
  starts[1]?.resolve(process);
  await expect.poll(reports).toEqual(['NetworkNotIsolated', 'two']);
});
