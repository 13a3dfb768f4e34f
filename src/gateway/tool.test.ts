import {describe, expect, test} from 'vitest';
import {z} from 'zod';
import {BASE_GROUPS, COMPOSITE_GROUPS, expandGroups} from '../domain/access/groups.ts';
import {defineTool, type ToolCall} from './tool.ts';
import {TOOLS} from './tools/index.ts';

const added = defineTool({
  name: 'added_tool',
  group: 'health',
  effect: 'update',
  description: 'A tool that only this test knows.',
  input: z.strictObject({word: z.string()}),
  output: z.object({words: z.array(z.string())}),
  composites: {self_session: {input: z.strictObject({word: z.string().max(1)}), description: 'Narrowed.'}},
  needs: () => [],
  handle: async ({input}) => ({words: [input.word]}),
});
const caller = {kind: 'session', namespace: 'n', name: 's', uid: 'u', podUid: 'p'} as const;

describe('Z-162 a new tool is one entry', () => {
  test('and is in its own groups and no others', () => {
    const all = [...TOOLS, added];
    const groups = [...BASE_GROUPS, ...BASE_GROUPS.map((g) => `${g}_readonly`), ...COMPOSITE_GROUPS];
    const having = groups.filter((g) => expandGroups([g], all).tools.has('added_tool'));
    expect(having).toEqual(['health', 'self_session']);
    expect(expandGroups(['self_session'], all).tools.get('added_tool')).toBe('narrowed');
    expect(expandGroups(['self_session', 'health'], all).tools.get('added_tool')).toBe('whole');
  });

  test('with what its composite says of it, and takes no more there', () => {
    expect(() => added.bind({word: 'long'}, 'narrowed', caller)).toThrow('word');
    expect(added.describe('narrowed').description).toBe('Narrowed.');
    expect(added.describe('whole').description).toContain('only this test');
  });
});

describe('Z-161 what a tool returns', () => {
  test('data is sent as pretty JSON, and as data', async () => {
    const bound = added.bind({word: 'x'}, 'whole', caller);
    expect(await bound.run(NO_CALL)).toEqual({
      data: {words: ['x']},
      text: '{\n  "words": [\n    "x"\n  ]\n}',
      structured: true,
    });
  });

  test('text is sent as it is', async () => {
    const said = defineTool({...SAYING, handle: async () => 'plain'}).bind({}, 'whole', caller);
    expect(await said.run(NO_CALL)).toEqual({data: 'plain', text: '# plain', structured: false});
  });
});

const SAYING = {
  name: 'say_it',
  group: 'health',
  effect: 'read',
  description: 'Says a word.',
  input: z.strictObject({}),
  output: z.string(),
  needs: () => [],
  render: (word: string) => `# ${word}`,
} as const;

const unused = () => {
  throw new Error('the tool of this test needs nothing');
};
const NO_CALL: Omit<ToolCall<unknown>, 'input'> = {
  caller,
  namespace: 'n',
  channel: 'mcp',
  archive: {read: unused},
  require: unused,
  may: unused,
  session: unused,
  allowedTools: new Set(),
  toolsOf: unused,
  now: new Date(0),
  random: unused,
  askWaitMs: 0,
  signal: new AbortController().signal,
  during: (_note, work) => work,
  store: {
    session: unused,
    liveSession: unused,
    sessions: unused,
    children: unused,
    agent: unused,
    agents: unused,
    turns: unused,
    questions: unused,
    createSession: unused,
    createTurn: unused,
    createQuestion: unused,
    patchSession: unused,
    settledQuestion: unused,
    markDelivered: unused,
  },
};
