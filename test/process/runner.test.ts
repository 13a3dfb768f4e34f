import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {test as base, describe, expect} from 'vitest';
import type {Launch} from '../../src/api/launch.ts';
import {eventually} from '../support/eventually.ts';
import {RunnerBench} from '../support/runner-bench.ts';

/** Each test has a bench of its own, so that they may run side by side: most of their time is waiting. */
const test = base.extend<{bench: RunnerBench}>({
  bench: async ({task}, use) => {
    const bench = new RunnerBench();
    await use(bench);
    if (task.result?.state === 'fail') console.log(bench.log, JSON.stringify(bench.gateway.events.slice(-5), null, 1));
    await bench.stop();
  },
});

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe.concurrent('runner and shim as processes', {timeout: 150_000}, () => {
  test('answers a turn, then a second one that needs the memory of the first', async ({bench}) => {
    const {gateway} = bench;
    await bench.start('normal', {instructions: 'Be kind.'});
    const ready = await gateway.find('report', (event) => event.state === 'Ready');
    expect(ready).toMatchObject({conversation: 'New', agent: {name: 'small-agent', version: '1', protocolVersion: 1}});
    gateway.turn(1, 'remember the blue house');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Completed', stopReason: 'EndTurn', response: 'noted'});
    gateway.turn(2, 'recall');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Completed', response: 'the blue house'});
    const records = gateway.events.flatMap(({event}) => (event.type === 'record' ? [event.record] : []));
    expect(records.filter((r) => r.kind === 'message').map((r) => [r.turn?.sequence, r.text])).toEqual([
      [1, 'noted'],
      [2, 'the blue house'],
    ]);
    gateway.turn(3, 'blocks');
    expect((await gateway.finished(3)).response).toBe('blocks');
  });

  test('gives the instructions before the first prompt only', async ({bench}) => {
    const {gateway} = bench;
    await bench.start('normal', {instructions: 'Be kind.'});
    gateway.turn(1, 'blocks');
    expect((await gateway.finished(1)).response).toBe('Be kind. | blocks');
    gateway.want({
      turn: {name: 't', uid: 'uid-2', sequence: 2, input: [{text: 'a'}, {text: 'blocks'}], preface: ['late']},
    });
    expect((await gateway.finished(2)).response).toBe('late | a | blocks');
  });

  test('the agent gets its files, its folders and our variables, and nothing of Kubernetes', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'environment');
    const {response} = await gateway.finished(1);
    const seen: {names: string[]; cwd: string; home: string} = JSON.parse(response ?? '{}');
    expect(seen.cwd).toBe(path.join(bench.folder, 'workspace'));
    expect(seen.home).toBe(path.join(bench.folder, 'home'));
    expect(seen.names).toEqual(expect.arrayContaining(['CARREL_MCP_URL', 'FLAVOUR', 'HTTPS_PROXY', 'NO_PROXY']));
    expect(seen.names.filter((n) => n.startsWith('KUBERNETES_') || n.startsWith('LD_'))).toEqual([]);
    const config = readFileSync(path.join(bench.folder, 'home/.config/small/agent.json'), 'utf8');
    expect(config).toMatch(/^\{"url":"http:\/\/127\.0\.0\.1:\d+\/mcp"\}$/);
  });

  test('an interrupt ends the turn that it names, and the next one runs', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'wait');
    await gateway.find('record', ({record}) => record.kind === 'turn_started');
    gateway.want({stop: {turnUid: 'uid-0'}});
    gateway.want({stop: {turnUid: 'uid-1'}});
    expect(await gateway.finished(1)).toMatchObject({phase: 'Interrupted', stopReason: 'Cancelled'});
    gateway.turn(2, 'say still here');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Completed', response: 'still here'});
  });

  test('a turn that is stopped before it was given to the agent is Cancelled', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.want({
      turn: {name: 'turn-1', uid: 'uid-1', sequence: 1, input: [{text: 'say no'}], preface: []},
      stop: {turnUid: 'uid-1'},
    });
    expect(await gateway.finished(1)).toMatchObject({phase: 'Cancelled'});
  });

  test('an agent that ignores the interrupt is killed after 10 s and started again', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'stuck');
    await gateway.find('record', ({record}) => record.kind === 'turn_started');
    gateway.want({stop: {turnUid: 'uid-1'}});
    expect(await gateway.finished(1)).toMatchObject({phase: 'Interrupted'});
    gateway.turn(2, 'say back');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Completed', response: 'back'});
  });

  test('a turn beyond its limit is interrupted with turn_timeout', async ({bench}) => {
    const {gateway} = bench;
    await bench.start('normal', {limits: {start: 120, turn: 1}});
    gateway.turn(1, 'wait');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Interrupted', error: {code: 'turn_timeout'}});
  });

  test('a permission becomes a question, and its answer reaches the agent once', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'permission');
    const question = await gateway.find('question');
    expect(question).toMatchObject({kind: 'Permission', turnUid: 'uid-1', options: [{id: 'yes'}, {id: 'no'}]});
    expect(question.text).toContain('rm -rf /workspace');
    const answer = {
      question: 'q',
      uid: 'q-uid',
      requestId: question.requestId,
      outcome: 'Answered' as const,
      option: 'yes',
    };
    gateway.want({answers: [answer]});
    expect(await gateway.find('delivered')).toMatchObject({question: 'q', questionUid: 'q-uid'});
    expect((await gateway.finished(1)).response).toContain('"optionId":"yes"');
  });

  test('an expired permission is rejected, an elicitation is filled in, an interrupt withdraws what is open', async ({
    bench,
  }) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'permission');
    const first = await gateway.find('question');
    gateway.want({answers: [{question: 'q1', uid: 'u1', requestId: first.requestId, outcome: 'Expired'}]});
    expect((await gateway.finished(1)).response).toContain('"optionId":"no"');
    gateway.turn(2, 'form');
    const second = await gateway.find('question', (event) => event.kind === 'Elicitation');
    expect(second).toMatchObject({text: 'color?', schema: expect.stringContaining('"color"')});
    const {requestId} = second;
    gateway.want({answers: [{question: 'q2', uid: 'u2', requestId, outcome: 'Answered', content: '{"color":"red"}'}]});
    expect((await gateway.finished(2)).response).toContain('"color":"red"');
    gateway.turn(3, 'permission');
    const third = await gateway.find('question', (event) => event.turnUid === 'uid-3');
    gateway.want({stop: {turnUid: 'uid-3'}});
    expect(await gateway.find('withdrawn')).toMatchObject({requestId: third.requestId});
    expect(await gateway.finished(3)).toMatchObject({phase: 'Interrupted'});
  });

  test('a permission whose Question is deleted, or was never made, is cancelled: the document names the ones that wait', async ({
    bench,
  }) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'permission');
    const {requestId} = await gateway.find('question');
    gateway.want({questions: [requestId]});
    gateway.want({questions: []});
    expect(await gateway.find('withdrawn')).toMatchObject({requestId, turnUid: 'uid-1'});
    expect((await gateway.finished(1)).response).toContain('"outcome":"cancelled"');
    // Refused: no document ever names it. The next stream tells.
    gateway.turn(2, 'permission');
    const refused = await gateway.find('question', (event) => event.turnUid === 'uid-2');
    await gateway.find('record', ({record}) => record.kind === 'question' && record.turn?.sequence === 2);
    gateway.endStreams();
    const withdrawn = await gateway.find('withdrawn', (event) => event.turnUid === 'uid-2');
    expect(withdrawn).toMatchObject({requestId: refused.requestId});
    expect((await gateway.finished(2)).response).toContain('"outcome":"cancelled"');
  });

  test('an agent that crashes in a turn fails it and is started again, at most 3 times', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    for (const n of [1, 2, 3, 4]) {
      gateway.turn(n, 'crash');
      expect(await gateway.finished(n)).toMatchObject({phase: 'Failed', error: {code: 'agent_exited'}});
    }
    const last = await gateway.find('report', (event) => event.state === 'Exited');
    expect(last).toMatchObject({reason: 'AgentExited', exit: {code: 9}});
    gateway.turn(5, 'say never');
    expect(await gateway.finished(5)).toMatchObject({phase: 'Failed', error: {code: 'agent_not_started'}});
  });

  test('a turn without a word, and a refusal, are failed', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'empty');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Failed', error: {code: 'empty_turn'}});
    gateway.turn(2, 'refuse');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Failed', stopReason: 'Refusal', error: {code: 'refused'}});
  });

  test('a flood is stored whole, without a gap', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'flood 3000');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Completed'});
    const texts = gateway.events.map(({event}) =>
      event.type === 'record' && event.record.kind === 'message' ? (event.record.text ?? '') : '',
    );
    expect(texts.join('').length).toBe(3_000_000);
  });

  test('a killed runner comes back as epoch 2: the turn is outcome_unknown, never replayed, the conversation resumed', async ({
    bench,
  }) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'remember green');
    await gateway.finished(1);
    gateway.turn(2, 'child');
    const child = Number((await gateway.finished(2)).response?.split(' ')[1]);
    gateway.turn(3, 'permission');
    const question = await gateway.find('question');
    bench.runner?.kill('SIGKILL');
    await bench.exit(bench.runner);
    await eventually(() => expect(alive(child)).toBe(false));
    bench.startRunner();
    expect(await gateway.finished(3)).toMatchObject({phase: 'Failed', error: {code: 'outcome_unknown'}});
    expect(await gateway.find('withdrawn')).toMatchObject({requestId: question.requestId});
    await gateway.find('report', (event) => event.conversation === 'Resumed');
    gateway.turn(4, 'recall');
    expect(await gateway.finished(4)).toMatchObject({phase: 'Completed', response: 'green'});
    expect(new Set(gateway.events.map(({epoch}) => epoch))).toEqual(new Set([1, 2]));
    const started = gateway.events.filter(({event}) => event.type === 'record' && event.record.kind === 'turn_started');
    expect(started.length).toBe(4);
  });

  test('an agent that cannot resume is told the transcript', async ({bench}) => {
    const {gateway} = bench;
    gateway.records = [{time: 't', kind: 'prompt', text: 'my name is Ada'}];
    gateway.want({resume: {agentSessionId: 'old'}});
    await bench.start('forgetful');
    gateway.turn(7, 'blocks');
    expect((await gateway.finished(7)).response).toContain('User: my name is Ada');
    const ready = await gateway.find('report', (event) => event.state === 'Ready');
    expect(ready.conversation).toBe('Rebuilt');
  });

  test('a gateway that has no verdict (503) is waited out, and nothing is lost', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    await gateway.find('report', (event) => event.state === 'Ready');
    gateway.refuseWith = 503;
    gateway.turn(1, 'say later');
    await eventually(() => expect(bench.log).toContain('events wait for the gateway'));
    gateway.refuseWith = undefined;
    expect(await gateway.finished(1)).toMatchObject({phase: 'Completed', response: 'later'});
  });

  test('the scripted agent lists the tools through the loopback endpoint, and is Ready without a finding', async ({
    bench,
  }) => {
    const {gateway} = bench;
    const agent = fileURLToPath(new URL('../../examples/agents/scripted/main.ts', import.meta.url));
    await bench.start('', {command: [process.execPath, agent]});
    const ready = await gateway.find('report', (event) => event.state === 'Ready');
    expect(ready).toMatchObject({agent: {capabilities: expect.arrayContaining(['mcp.http'])}, findings: []});
    gateway.turn(1, 'tools');
    expect((await gateway.finished(1)).response).toContain('get_session');
    gateway.turn(2, 'crash');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Failed', error: {code: 'agent_exited'}});
    gateway.turn(3, 'say back again');
    expect((await gateway.finished(3)).response).toContain('back again');
    expect(gateway.events.some(({event}) => event.type === 'report' && event.conversation === 'Resumed')).toBe(true);
  });

  test('an agent that takes MCP servers over stdio only has its tools through the bridge, also after a restart', async ({
    bench,
  }) => {
    const {gateway} = bench;
    const agent = fileURLToPath(new URL('../../examples/agents/scripted/main.ts', import.meta.url));
    await bench.start('', {command: [process.execPath, agent, '--mcp-stdio']});
    const ready = await gateway.find('report', (event) => event.state === 'Ready');
    expect(ready).toMatchObject({agent: {capabilities: expect.not.arrayContaining(['mcp.http'])}, findings: []});
    gateway.turn(1, 'tools\ncrash');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Failed', error: {code: 'agent_exited'}});
    const resumed = await gateway.find('report', (event) => event.conversation === 'Resumed');
    expect(resumed).toMatchObject({state: 'Ready', findings: []});
    gateway.turn(2, 'tools');
    expect((await gateway.finished(2)).response).toContain('tools: get_session');
  });

  test('an agent that takes no MCP server is Ready with the condition ToolsNotConnected', async ({bench}) => {
    const {gateway} = bench;
    const agent = fileURLToPath(new URL('../../examples/agents/scripted/main.ts', import.meta.url));
    await bench.start('', {command: [process.execPath, agent, '--no-mcp']});
    const {findings} = await gateway.find('report', (event) => event.state === 'Ready');
    const message = expect.stringMatching(/announces no MCP over HTTP, was given .* over stdio, .* within 10 s/);
    expect(findings).toEqual([{type: 'ToolsNotConnected', reason: 'ToolsNotConnected', message}]);
    gateway.turn(1, 'say fine without');
    expect((await gateway.finished(1)).response).toContain('fine without');
  });

  test('Stop ends the agent in good order, then its container, then the runner', async ({bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'say bye');
    await gateway.finished(1);
    gateway.want({desired: 'Stop'});
    expect(await bench.exit(bench.shim)).toBe(0);
    bench.runner?.kill('SIGTERM');
    expect(await bench.exit(bench.runner)).toBe(0);
    expect(gateway.events.some(({event}) => event.type === 'record' && event.record.kind === 'agent_exited')).toBe(
      true,
    );
  });

  test('Stop before the shim is there: once it comes it is told to end, and no agent is started', async ({bench}) => {
    const {gateway} = bench;
    gateway.want({desired: 'Stop'});
    await bench.prepare();
    bench.startRunner();
    await eventually(() => expect(bench.log).toContain('runner ends'));
    bench.startShim();
    expect(await bench.exit(bench.shim)).toBe(0);
    bench.runner?.kill('SIGTERM');
    expect(await bench.exit(bench.runner)).toBe(0);
    expect(gateway.events).toEqual([]);
  });

  test('TERM of the shim ends the agent: its turn is outcome_unknown, and nothing is started again', async ({
    bench,
  }) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'wait');
    await gateway.find('record', ({record}) => record.kind === 'turn_started');
    bench.shim?.kill('SIGTERM');
    expect(await gateway.finished(1)).toMatchObject({phase: 'Failed', error: {code: 'outcome_unknown'}});
    expect(await bench.exit(bench.shim)).toBe(0);
    bench.runner?.kill('SIGTERM');
    expect(await bench.exit(bench.runner)).toBe(0);
    expect(gateway.events.flatMap(({event}) => (event.type === 'report' ? [event.state] : []))).toEqual(['Ready']);
  });

  test('a shim that is frozen for 15 s is AgentUnresponsive: the turn fails, and once it goes on the agent is a new one', async ({
    bench,
  }) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'child');
    const child = Number((await gateway.finished(1)).response?.split(' ')[1]);
    gateway.turn(2, 'wait');
    await gateway.find('record', ({record}) => record.kind === 'turn_started' && record.turn?.sequence === 2);
    bench.shim?.kill('SIGSTOP');
    expect(await gateway.finished(2)).toMatchObject({phase: 'Failed', error: {code: 'agent_unresponsive'}});
    const told = await gateway.find('report', (event) => event.state === 'Restarting');
    const message = 'the process beside the agent gave no sign of life for 15 s';
    expect(told).toMatchObject({reason: 'AgentUnresponsive', message});
    expect(told.findings).toEqual([{type: 'AgentUnresponsive', reason: 'AgentUnresponsive', message}]);
    bench.shim?.kill('SIGCONT');
    await eventually(() => expect(alive(child)).toBe(false));
    const back = await gateway.find('report', (event) => event.conversation === 'Resumed');
    expect(back).toMatchObject({state: 'Ready', findings: []});
    gateway.turn(3, 'say thawed');
    expect(await gateway.finished(3)).toMatchObject({phase: 'Completed', response: 'thawed'});
  });

  test.for([
    [410, 'the pod is not wanted any more'],
    [401, 'the token is refused, though it was read for this very request'],
  ] as const)('fenced: %i (%s) kills the agent and ends runner and shim', async ([status], {bench}) => {
    const {gateway} = bench;
    await bench.start();
    gateway.turn(1, 'child');
    const child = Number((await gateway.finished(1)).response?.split(' ')[1]);
    bench.renewToken('runner', 'renewed');
    gateway.turn(2, 'wait');
    await gateway.find('record', ({record}) => record.kind === 'turn_started' && record.turn?.sequence === 2);
    expect(gateway.bearer).toBe('Bearer renewed');
    gateway.refuseWith = status;
    gateway.want({stop: {turnUid: 'uid-2'}});
    expect(await bench.exit(bench.runner)).toBe(0);
    expect(await bench.exit(bench.shim)).toBe(0);
    await eventually(() => expect(alive(child)).toBe(false));
    // At once: nothing was tried again.
    expect(gateway.refused).toEqual(['/runner/v1/events']);
  });
});

describe.concurrent('agents that cannot be used', {timeout: 150_000}, () => {
  test.for<[name: string, mode: string, change: Partial<Launch>, reason: string, message: RegExp]>([
    ['exits at once', 'exit', {}, 'AgentExited', /code 7.*error: no model configured/],
    ['is no ACP agent', 'not-acp', {}, 'AgentNotAcp', /Welcome to the shell!/],
    [
      'never answers initialize',
      'silent',
      {limits: {start: 1, turn: 60}},
      'InitializeTimeout',
      /limits\.start \(1 s\)/,
    ],
    ['wants a login', 'login', {}, 'AuthenticationRequired', /harness\.authMethod/],
    ['does not exist', 'x', {command: ['/no/such/agent']}, 'CommandNotFound', /\/no\/such\/agent/],
    ['exits 0 without a word', 'x', {command: ['true']}, 'AgentExited', /code 0.*nothing/],
    ['echoes what it hears', 'x', {command: ['cat']}, 'AgentNotAcp', /refused initialize/],
  ])('one that %s is Failed with its reason, and the turn too', async ([, mode, change, reason, message], {bench}) => {
    const {gateway} = bench;
    await bench.start(mode, change);
    gateway.turn(1, 'say hello');
    const report = await gateway.find('report', (event) => event.state === 'Failed');
    expect(report.reason).toBe(reason);
    expect(report.message).toMatch(message);
    expect(await gateway.finished(1)).toMatchObject({phase: 'Failed', error: {code: 'agent_not_started'}});
  });
});
