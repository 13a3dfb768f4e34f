import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import * as acp from '@agentclientprotocol/sdk';
import {build} from 'esbuild';

const SOURCE = fileURLToPath(new URL('../../examples/agents/scripted/main.ts', import.meta.url));

/** Bundles the agent as its image does, into a folder; returns the file to run. */
export async function bundleAgent(folder: string): Promise<string> {
  const outfile = join(folder, 'scripted-agent.mjs');
  await build({entryPoints: [SOURCE], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error'});
  return outfile;
}

/** How a test starts the scripted agent. */
export interface TestAgentOptions {
  program: string;
  home: string;
  args?: string[];
  env?: Record<string, string>;
  /** Chooses the option of a permission request. */
  permission?: (asked: acp.RequestPermissionRequest) => acp.RequestPermissionResponse;
}

/** The scripted agent as a process, and the client side of its connection. */
export interface TestAgent {
  child: ChildProcess;
  agent: acp.ClientContext;
  updates: acp.SessionUpdate[];
  /** All that the agent has said since the last call. */
  said(): string;
  stderr(): string;
  prompt(sessionId: string, text: string): Promise<acp.StopReason>;
  close(): Promise<void>;
}

/** Spawns the scripted agent and connects to it as a client. */
export function startTestAgent(options: TestAgentOptions): TestAgent {
  const child = spawn(process.execPath, [options.program, ...(options.args ?? [])], {
    env: {HOME: options.home, PATH: process.env['PATH'] ?? '', ...options.env},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const updates: acp.SessionUpdate[] = [];
  const connection = acp
    .client({name: 'test'})
    .onNotification('session/update', ({params}) => void updates.push(params.update))
    .onRequest('session/request_permission', ({params}) =>
      options.permission ? options.permission(params) : {outcome: {outcome: 'selected', optionId: 'allow'}},
    )
    .onRequest('elicitation/create', () => ({action: 'accept', content: {answer: 'forty-two'}}))
    .connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  connection.closed.catch(() => {});
  return {
    child,
    agent: connection.agent,
    updates,
    said: () =>
      updates
        .splice(0)
        .map((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
    stderr: () => errors,
    prompt: async (sessionId, text) => {
      const reply = await connection.agent.request('session/prompt', {sessionId, prompt: [{type: 'text', text}]});
      return reply.stopReason;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
