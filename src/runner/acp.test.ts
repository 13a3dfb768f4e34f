import {expect, test} from 'vitest';
import {z} from 'zod';
import {AcpConnection} from './acp.ts';
import type {AgentProcess} from './agent-process.ts';
import {agentError} from './agent-refused.ts';

const Asked = z.object({id: z.number(), method: z.string()});

/** A connection to an agent that gives these answers, by method. */
function agentThatAnswers(answers: Readonly<Record<string, unknown>>): AcpConnection {
  const out = new TransformStream<Uint8Array, Uint8Array>();
  const writer = out.writable.getWriter();
  const stdin = new WritableStream<Uint8Array>({
    write: (bytes) => {
      const {id, method} = Asked.parse(JSON.parse(Buffer.from(bytes).toString()));
      void writer.write(Buffer.from(`${JSON.stringify({jsonrpc: '2.0', id, result: answers[method]})}\n`));
    },
  });
  const process: AgentProcess = {
    stdin,
    stdout: out.readable,
    exited: new Promise(() => {}),
    stderrTail: () => '',
    signal() {},
    closeInput() {},
  };
  return new AcpConnection(process, {
    update() {},
    permission: async () => ({outcome: 'cancelled'}),
    elicitation: async () => ({action: 'cancel'}),
    otherLine() {},
    room: async () => {},
  });
}

test.each([{a: 1}, 5, '', 's'.repeat(513), null])(
  'session id %j is refused, for it would go into the state',
  async (sessionId) => {
    const acp = agentThatAnswers({'session/new': {sessionId}});
    const error = await acp.create('/workspace', []).catch((problem: unknown) => problem);
    expect(agentError(error)).toMatchObject({
      code: -32_603,
      message: 'its answer to session/new is not one of ACP: sessionId',
    });
  },
);

test.each([null, 5, {}, {stopReason: 1}])('a turn does not end well with the answer %j', async (answer) => {
  const acp = agentThatAnswers({'session/prompt': answer});
  const error = await acp.prompt('s', ['hi']).catch((problem: unknown) => problem);
  expect(agentError(error)?.message).toContain('its answer to session/prompt is not one of ACP');
});

test('what an agent says of itself in a wrong form is left out, the start goes on', async () => {
  const said = {
    protocolVersion: 1,
    agentInfo: {name: 5},
    agentCapabilities: {loadSession: 'yes', sessionCapabilities: 7},
  };
  const greeting = await agentThatAnswers({initialize: {...said, authMethods: 7}}).initialize();
  expect(greeting).toEqual({protocolVersion: 1, agentCapabilities: {}});
  await expect(agentThatAnswers({initialize: []}).initialize()).rejects.toThrow('not one of ACP: result');
});
