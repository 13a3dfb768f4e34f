import {describe, expect, test} from 'vitest';
import {type Answer, elicitationReply, permissionReply} from './answer.ts';
import {head, printableTail, printableWords, tail} from './clean.ts';
import {launchEnvironment, launchFiles} from './launch-environment.ts';
import {composePrompt, transcriptText} from './prompt.ts';
import {planRestart} from './restart.ts';
import {backoff, judge} from './verdict.ts';

const answer = (change: Partial<Answer>): Answer => ({
  question: 'q',
  uid: 'u',
  requestId: 'r',
  outcome: 'Answered',
  ...change,
});
const allow = {id: 'a', label: 'Allow', kind: 'allow_once'};
const never = {id: 'n', label: 'Never', kind: 'reject_always'};
const reject = {id: 'r', label: 'Reject', kind: 'reject_once'};

describe('reply to a permission', () => {
  test.each<[string, (typeof allow)[], Answer | 'expired', object]>([
    ['the chosen option', [allow, reject], answer({option: 'a'}), {outcome: 'selected', optionId: 'a'}],
    [
      'expired: reject_once before reject_always',
      [allow, never, reject],
      'expired',
      {outcome: 'selected', optionId: 'r'},
    ],
    ['expired, only reject_always', [allow, never], answer({outcome: 'Expired'}), {outcome: 'selected', optionId: 'n'}],
    ['expired, nothing to reject with: never an approval', [allow], 'expired', {outcome: 'cancelled'}],
    [
      'expired although an option is named',
      [allow, reject],
      answer({outcome: 'Expired', option: 'a'}),
      {outcome: 'selected', optionId: 'r'},
    ],
    ['an option that was not offered', [allow, reject], answer({option: 'z'}), {outcome: 'selected', optionId: 'r'}],
    ['a text instead of an option', [allow, reject], answer({text: 'yes'}), {outcome: 'selected', optionId: 'r'}],
    ['withdrawn', [allow, reject], answer({outcome: 'Withdrawn'}), {outcome: 'cancelled'}],
  ])('%s', (_name, options, given, reply) => {
    expect(permissionReply(options, given)).toEqual(reply);
  });
});

test.each<[string, Answer | 'expired', object]>([
  ['a form', answer({content: '{"a":1}'}), {action: 'accept', content: {a: 1}}],
  ['no object', answer({content: '[1]'}), {action: 'decline'}],
  ['no JSON', answer({content: '{'}), {action: 'decline'}],
  ['nothing', answer({}), {action: 'decline'}],
  ['declined', answer({option: 'decline'}), {action: 'decline'}],
  ['expired', 'expired', {action: 'decline'}],
  ['withdrawn', answer({outcome: 'Withdrawn'}), {action: 'cancel'}],
])('reply to an elicitation: %s', (_name, given, reply) => {
  expect(elicitationReply(given)).toEqual(reply);
});

test.each<[number, boolean, string]>([
  [200, true, 'ok'],
  [425, true, 'retry'],
  [503, true, 'retry'],
  [500, true, 'retry'],
  [0, true, 'retry'],
  [410, false, 'fenced'],
  [401, true, 'fenced'],
  [401, false, 'retry'],
  [400, true, 'refused'],
  [403, true, 'refused'],
  [404, true, 'refused'],
  [408, true, 'retry'],
  [409, true, 'refused'],
  [413, true, 'refused'],
  [422, true, 'refused'],
  [429, true, 'retry'],
])('status %i with a token read anew: %s means %s', (status, anew, verdict) => {
  expect(judge(status, anew)).toBe(verdict);
});

test('waits grow, spread, and never pass 5 s', () => {
  expect(backoff(1, 0)).toBe(100);
  expect(backoff(1, 0.999)).toBe(200);
  expect(backoff(1000, 0.999)).toBeLessThanOrEqual(5_000);
});

test('an agent is started again 3 times in 10 minutes, and again later', () => {
  let starts: readonly number[] = [];
  const tries = [0, 1, 2, 3, 600_001].map((now) => {
    const {restart, counted} = planRestart(starts, now);
    starts = counted;
    return restart;
  });
  expect(tries).toEqual([true, true, true, false, true]);
});

test('a prompt is instructions, memory, goal, preface, input, without empty parts', () => {
  const turn = {name: 't', uid: 'u', sequence: 1, input: [{text: 'in'}, {text: ''}], preface: ['late']};
  expect(composePrompt({turn, goal: 'win', instructions: 'be kind', earlier: 'User: hi'})).toEqual([
    'be kind',
    expect.stringMatching(/memory .* was lost.*User: hi/s),
    'Goal of this session: win',
    'late',
    'in',
  ]);
  expect(transcriptText([{time: '', kind: 'plan', data: {}}], 10)).toBeUndefined();
});

test('files and environment get the closed set of placeholders, and our own names come last', () => {
  const given = {modelUrl: 'M', modelKey: 'K', modelName: 'N', mcpUrl: 'U', mcpToken: 'T', proxyUrl: 'P'};
  const launch = {
    command: ['x'],
    args: [],
    env: [
      {name: 'CARREL_MCP_URL', value: 'forged'},
      {name: 'ANTHROPIC_BASE_URL', value: '${CARREL_MODEL_URL}'},
    ],
    files: [{path: 'f', content: '${CARREL_MODEL_URL} ${CARREL_MCP_TOKEN} ${HOME} ${CARREL_OTHER}'}],
    harness: {noReload: false, assumeMcpHttp: false},
    limits: {start: 1, turn: 1},
  };
  expect(launchFiles(launch, given)[0]?.content).toBe('M T ${HOME} ${CARREL_OTHER}');
  const environment = launchEnvironment(launch, given);
  expect(environment.findLast((e) => e.name === 'CARREL_MCP_URL')?.value).toBe('U');
  expect(environment.find((e) => e.name === 'ANTHROPIC_BASE_URL')?.value).toBe('M');
});

test('words of a process are shown without what a terminal would obey', () => {
  expect(printableTail('\u001b[31merror\u001b[0m:\r\n\u202eevil\u0007', 100)).toBe('error: evil');
  expect(tail('abcdef', 4)).toBe('…def');
  expect(head('abc😀', 4)).toBe('abc…');
});

test('of long last words the error is shown that stands before a stack trace, and the end', () => {
  const trace = Array.from({length: 40}, (_, i) => `    at Module._load (node:internal/modules/cjs/loader:${i})`).join(
    '\n',
  );
  const words = `node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\n\u001b[31mError: Cannot find module '/app/nope.js'\u001b[0m\n${trace}\n\nNode.js v24.0.0\n`;
  const shown = printableWords(words, 700);
  expect(shown).toMatch(/^Error: Cannot find module '\/app\/nope\.js' ….* Node\.js v24\.0\.0$/);
  expect(shown).toHaveLength(700);
  expect(printableWords('one\nError: two\n', 700)).toBe('one Error: two');
  expect(printableWords(`first\n${'x'.repeat(800)}`, 700)).toMatch(/^first …x+$/);
  expect(printableWords(`${'x'.repeat(800)}\nError: at the end`, 700)).toMatch(/^…x+ Error: at the end$/);
  expect(printableWords(`fatal ${'x'.repeat(5_000)}`, 700).length).toBeLessThanOrEqual(700);
});
