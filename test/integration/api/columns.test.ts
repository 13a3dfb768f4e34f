import {afterAll, beforeAll, expect, it} from 'vitest';
import type {Json} from '../../../src/api/json.ts';
import {example, type KindName} from './examples.ts';
import {type ApiPlace, makeApiPlace, PLATFORM} from './place.ts';

const condition = (type: string, reason: string): Json => ({
  type,
  status: 'True',
  reason,
  message: 'said',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

interface Row {
  kind: KindName;
  resource: string;
  spec: Json;
  status: Json;
  head: string[];
  /** How the line begins. */
  line: string[];
  /** How it ends, if its last column is a text. */
  last?: string;
}

/** One object of each kind with everything that its columns show, and the line that `kubectl get -o wide` prints. */
const ROWS: readonly Row[] = [
  {
    kind: 'Agent',
    resource: 'agents.carrel.dev',
    spec: {model: {name: 'large', dialect: 'Gemini', baseUrl: 'https://models.example'}},
    status: {publishedRevision: 'shown-12345678-abc', conditions: [condition('Ready', 'Published')]},
    head: ['NAME', 'READY', 'REASON', 'MODEL', 'REVISION', 'IMAGE', 'AGE'],
    line: [
      'shown',
      'True',
      'Published',
      'large',
      'shown-12345678-abc',
      `registry.example/agent@sha256:${'a'.repeat(64)}`,
    ],
  },
  {
    kind: 'Session',
    resource: 'sessions.carrel.dev',
    spec: {title: 'Title'},
    status: {phase: 'Idle', turns: 3, pod: {name: 'pod-1', uid: 'u'}, conditions: [condition('Ready', 'Idle')]},
    head: ['NAME', 'PHASE', 'READY', 'AGENT', 'TURNS', 'REASON', 'POD', 'TITLE', 'AGE', 'MESSAGE'],
    line: ['shown', 'Idle', 'True', 'scribe', '3', 'Idle', 'pod-1', 'Title'],
    last: 'said',
  },
  {
    kind: 'Turn',
    resource: 'turns.carrel.dev',
    spec: {},
    status: {phase: 'Failed', sequence: 7, stopReason: 'Refusal', error: {code: 'refused', message: 'no'}},
    head: ['NAME', 'SESSION', 'SEQ', 'PHASE', 'STOP', 'ERROR', 'AGE'],
    line: ['shown', 'first', '7', 'Failed', 'Refusal', 'refused'],
  },
  {
    kind: 'Question',
    resource: 'questions.carrel.dev',
    spec: {answer: {option: 'a'}, answeredBy: 'alice', expiresAt: '2020-01-01T00:00:00Z'},
    status: {phase: 'Answered'},
    head: ['NAME', 'SESSION', 'TURN', 'KIND', 'PHASE', 'BY', 'EXPIRES', 'AGE', 'QUESTION'],
    line: ['shown', 'first', 'first-1', 'Ask', 'Answered', 'alice'],
    last: 'Which one?',
  },
];

let place: ApiPlace;
beforeAll(async () => {
  place = await makeApiPlace('columns');
});
afterAll(() => place.remove());

it.each(ROWS.map((row) => [row.kind, row] as const))('kubectl get shows every column of %s', async (_, row) => {
  await place.kubectl([...PLATFORM, 'create', '-f', '-'], example(row.kind, 'shown', row.spec));
  const patch = [
    'patch',
    `${row.resource}/shown`,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({status: row.status}),
  ];
  await place.kubectl([...PLATFORM, ...patch]);
  const [head, line] = (await place.kubectl(['get', row.resource, '-o', 'wide'])).trim().split('\n');
  expect(head?.split(/\s+/)).toEqual(row.head);
  expect(line?.split(/\s+/).slice(0, row.line.length)).toEqual(row.line);
  if (row.last !== undefined) expect(line?.endsWith(`   ${row.last}`)).toBe(true);
});

it('field selectors find a Turn by session and phase, and a Session by agent', async () => {
  expect(
    await place.kubectl([
      'get',
      'turns.carrel.dev',
      '--field-selector=spec.session=first,status.phase=Failed',
      '-o',
      'name',
    ]),
  ).toBe('turn.carrel.dev/shown\n');
  expect(await place.kubectl(['get', 'turns.carrel.dev', '--field-selector=status.phase=Queued', '-o', 'name'])).toBe(
    '',
  );
  expect(await place.kubectl(['get', 'sessions.carrel.dev', '--field-selector=spec.agent=scribe', '-o', 'name'])).toBe(
    'session.carrel.dev/shown\n',
  );
});

it('every kind stands in category carrel', async () => {
  const names = await place.kubectl(['get', 'carrel', '-o', 'name']);
  expect(names.trim().split('\n').sort()).toEqual(
    ['agent', 'question', 'session', 'turn'].map((kind) => `${kind}.carrel.dev/shown`),
  );
});
