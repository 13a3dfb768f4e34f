import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {McpServer} from '@agentclientprotocol/sdk';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import {bundleAgent, startTestAgent, type TestAgent, type TestAgentOptions} from '../support/acp-client.ts';
import {type AgentPlatform, startAgentPlatform} from '../support/agent-platform.ts';
import {eventually} from '../support/eventually.ts';

let built: string;
let program: string;
let folder: string;
let cwd: string;
let agents: TestAgent[];

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'carrel-agent-'));
  program = await bundleAgent(built);
});

afterAll(async () => {
  await rm(built, {recursive: true, force: true});
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carrel-agent-'));
  cwd = join(folder, 'workspace');
  await mkdir(join(cwd, 'docs'), {recursive: true});
  await writeFile(join(cwd, 'README.md'), '# A title\n\nText\n');
  await writeFile(join(cwd, 'docs/a.md'), 'a\n');
  agents = [];
});

afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  await rm(folder, {recursive: true, force: true});
});

function start(options: Omit<TestAgentOptions, 'home' | 'program'> = {}): TestAgent {
  const agent = startTestAgent({program, home: folder, ...options});
  agents.push(agent);
  return agent;
}

async function openSession(agent: TestAgent): Promise<string> {
  await agent.agent.request('initialize', {protocolVersion: 1, clientCapabilities: {elicitation: {form: {}}}});
  return (await agent.agent.request('session/new', {cwd, mcpServers: []})).sessionId;
}

async function turn(agent: TestAgent, sessionId: string, prompt: string): Promise<{said: string; stop: string}> {
  const stop = await agent.prompt(sessionId, prompt);
  // Updates come before the reply on the same stream, but their handlers run on their own.
  await new Promise(setImmediate);
  return {said: agent.said(), stop};
}

describe('a prompt', () => {
  it('does its lines in order, and leaves prose beside them aside', async () => {
    const agent = start();
    const id = await openSession(agent);
    expect(
      await turn(agent, id, 'You are the first.\nsay one\nremember colour deep blue\nrecall colour\nrecall x'),
    ).toEqual({
      said: 'one\nI will remember colour\ncolour is deep blue\nI remember nothing about x\n',
      stop: 'end_turn',
    });
  });

  it('of several blocks follows the last with instructions: those before it may quote earlier prompts', async () => {
    const agent = start();
    const sessionId = await openSession(agent);
    const prompt = ['Your memory was lost. User: say a\ncrash 7', 'say fine', 'Thank you'].map((text) => ({
      type: 'text' as const,
      text,
    }));
    expect(await agent.agent.request('session/prompt', {sessionId, prompt})).toEqual({stopReason: 'end_turn'});
    await new Promise(setImmediate);
    expect(agent.said()).toBe('fine\n');
  });

  it('reads and counts the workspace', async () => {
    const agent = start();
    const id = await openSession(agent);
    const {said} = await turn(
      agent,
      id,
      'read README.md\ncount .\ncount **/*.md\nwrite notes/n.txt hi you\nread notes/n.txt',
    );
    expect(said).toBe(
      'README.md:\n# A title\n\nText\n\n. holds 2 files; README.md is titled "A title"\n' +
        '**/*.md holds 2 files; README.md is titled "A title"\nwrote notes/n.txt\nnotes/n.txt:\nhi you\n\n',
    );
  });

  it('of plain prose is echoed with the number of the turn where there is no model', async () => {
    const agent = start();
    const id = await openSession(agent);
    await turn(agent, id, 'Hello');
    expect((await turn(agent, id, 'Who are you?')).said).toBe('turn 2: you said "Who are you?"\n');
  });

  it('can end silently, or with a refusal', async () => {
    const agent = start();
    const id = await openSession(agent);
    expect(await turn(agent, id, 'noword\nsay never')).toEqual({said: '', stop: 'end_turn'});
    expect(await turn(agent, id, 'refuse')).toMatchObject({stop: 'refusal'});
  });

  it('that fails answers with an error that says why', async () => {
    const agent = start();
    const id = await openSession(agent);
    await expect(agent.prompt(id, 'read nothing.txt')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('nothing.txt'),
    });
    await expect(agent.prompt(id, 'model hi')).rejects.toMatchObject({
      message: expect.stringContaining('CARREL_MODEL_URL'),
    });
  });

  it('while another runs is refused, and a cancel ends the one that runs', async () => {
    const agent = start();
    const id = await openSession(agent);
    const running = agent.prompt(id, 'say started\nstall 600');
    await eventually(() => expect(agent.updates).toHaveLength(1));
    await expect(agent.prompt(id, 'say x')).rejects.toMatchObject({code: -32600});
    await agent.agent.notify('session/cancel', {sessionId: id});
    expect(await running).toBe('cancelled');
  });

  it('floods with exactly so many bytes', async () => {
    const agent = start();
    const id = await openSession(agent);
    expect((await turn(agent, id, 'flood 100000')).said).toHaveLength(100_000);
  });

  it('asks for permission and by form', async () => {
    const agent = start();
    const id = await openSession(agent);
    const {said} = await turn(agent, id, 'permission delete all\nelicit Which number?');
    expect(said).toBe('permission: allow\nelicitation: {"action":"accept","content":{"answer":"forty-two"}}\n');
  });
});

describe('a conversation', () => {
  it.each(['session/load', 'session/resume'] as const)('outlives a killed process by %s', async (method) => {
    const first = start();
    const id = await openSession(first);
    await turn(first, id, 'remember place Oslo');
    await expect(first.prompt(id, 'kill')).rejects.toThrow();
    const second = start();
    await second.agent.request('initialize', {protocolVersion: 1});
    await second.agent.request(method, {sessionId: id, cwd, mcpServers: []});
    const replayed = second.updates.map((update) => update.sessionUpdate);
    expect(replayed).toEqual(
      method === 'session/load' ? ['user_message_chunk', 'agent_message_chunk', 'user_message_chunk'] : [],
    );
    second.said();
    expect((await turn(second, id, 'recall place')).said).toBe('place is Oslo\n');
  });

  it('that is unknown is said to be', async () => {
    const agent = start();
    await agent.agent.request('initialize', {protocolVersion: 1});
    for (const sessionId of ['00000000-0000-0000-0000-000000000000', '../../etc/passwd']) {
      const asked = agent.agent.request('session/resume', {sessionId, cwd, mcpServers: []});
      await expect(asked).rejects.toMatchObject({code: -32002});
    }
  });

  it('has modes', async () => {
    const agent = start();
    const sessionId = await openSession(agent);
    await agent.agent.request('session/set_mode', {sessionId, modeId: 'careful'});
    await expect(agent.agent.request('session/set_mode', {sessionId, modeId: 'wild'})).rejects.toMatchObject({
      code: -32602,
    });
  });
});

describe('the platform', () => {
  let platform: AgentPlatform;
  beforeEach(async () => {
    platform = await startAgentPlatform();
  });
  afterEach(() => platform.close());

  it('is asked for its tools when a session opens, at the endpoint that the client names', async () => {
    const agent = start();
    await agent.agent.request('initialize', {protocolVersion: 1});
    const headers = [{name: 'authorization', value: 'Bearer loopback'}];
    const server: McpServer = {type: 'http', name: 'platform', url: `${platform.url}/mcp`, headers};
    const {sessionId} = await agent.agent.request('session/new', {cwd, mcpServers: [server]});
    await eventually(() => expect(agent.stderr()).toContain('tools: get_session ask_user'));
    const {said} = await turn(
      agent,
      sessionId,
      'tools\ntool get_session {"session_id": "first"}\nask Which colour? | Red | Deep blue',
    );
    expect(said).toBe(
      'tools: get_session, ask_user\nget_session: did get_session {"session_id":"first"}\n' +
        'ask_user: did ask_user {"question":"Which colour?","options":[{"id":"red","label":"Red"},{"id":"deep-blue","label":"Deep blue"}]}\n',
    );
    expect(new Set(platform.calls.map((call) => call.key))).toEqual(new Set(['Bearer loopback']));
  });

  it('is found in the environment too, with the model', async () => {
    const agent = start({
      env: {
        CARREL_MCP_URL: `${platform.url}/mcp`,
        CARREL_MCP_TOKEN: 'token',
        CARREL_MODEL_URL: `${platform.url}/model`,
        CARREL_MODEL_KEY: 'key',
        CARREL_MODEL_NAME: 'stub-model',
      },
    });
    const id = await openSession(agent);
    expect((await turn(agent, id, 'tools\nmodel Who are you?')).said).toBe(
      'tools: get_session, ask_user\nI am a model\n',
    );
    expect((await turn(agent, id, 'And now?')).said).toBe('I am a model');
    expect(platform.calls.at(-1)).toMatchObject({path: '/model/v1/messages', key: 'key'});
    expect(JSON.parse(platform.calls.at(-1)?.body ?? '{}')).toMatchObject({
      model: 'stub-model',
      messages: [{role: 'user'}, {role: 'assistant'}, {role: 'user', content: 'And now?'}],
    });
    await expect(agent.prompt(id, 'model fail')).rejects.toMatchObject({message: expect.stringContaining('slow down')});
    expect(await turn(agent, id, 'quietmodel fail')).toEqual({said: '', stop: 'end_turn'});
  });
});

describe('a process that ends', () => {
  it.each([
    ['crash 7', 7, null],
    ['kill', null, 'SIGKILL'],
  ] as const)('%s: with code %s and signal %s', async (prompt, code, signal) => {
    const agent = start();
    const id = await openSession(agent);
    const exited = once(agent.child, 'exit');
    agent.prompt(id, prompt).catch(() => {});
    expect(await exited).toEqual([code, signal]);
  });

  it.each([
    [['--exit', '3'], 3],
    [['--silent-exit'], 0],
  ])('by %s: with code %i', async (args, code) => {
    const agent = start({args});
    expect(await once(agent.child, 'exit')).toEqual([code, null]);
  });

  it('ends by itself at the end of its input', async () => {
    const agent = start();
    await openSession(agent);
    const exited = once(agent.child, 'exit');
    agent.child.stdin?.end();
    expect(await exited).toEqual([0, null]);
  });
});

describe('a bad agent', () => {
  it('that is not ACP talks something else', async () => {
    const agent = start({args: ['--not-acp']});
    const answered = agent.agent.request('initialize', {protocolVersion: 1}).then(
      () => 'answered',
      () => 'closed',
    );
    agent.child.kill('SIGKILL');
    expect(await answered).toBe('closed');
  });

  it('that cannot resume says so and refuses', async () => {
    const agent = start({args: ['--no-resume']});
    const greeting = await agent.agent.request('initialize', {protocolVersion: 1});
    expect(greeting.agentCapabilities).toMatchObject({loadSession: false});
    expect(greeting.agentCapabilities?.sessionCapabilities).not.toHaveProperty('resume');
    const resumed = agent.agent.request('session/resume', {sessionId: 'x', cwd, mcpServers: []});
    await expect(resumed).rejects.toMatchObject({code: -32601});
  });

  it('that wants a login gets one', async () => {
    const agent = start({args: ['--needs-login']});
    await agent.agent.request('initialize', {protocolVersion: 1});
    await expect(agent.agent.request('session/new', {cwd, mcpServers: []})).rejects.toMatchObject({code: -32000});
    await agent.agent.request('authenticate', {methodId: 'key'});
    expect((await agent.agent.request('session/new', {cwd, mcpServers: []})).sessionId).toBeTruthy();
  });
});
