import {describe, expect, test} from 'vitest';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {oneLine, treeOf} from './hierarchy.ts';
import {renderHumanMessages} from './human-messages.ts';
import {searchSessions} from './search.ts';
import {renderTranscript} from './transcript.ts';

function session(name: string, second: number, spec: Partial<SessionObject['spec']> = {}): SessionObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Session',
    metadata: {name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-01T00:00:0${second}Z`},
    spec: {agent: 'writer', desired: 'Active', restart: 0, ttlAfterFinished: '7d', turnHistoryLimit: 20, ...spec},
    status: {phase: second === 1 ? 'Idle' : 'Running'},
  };
}

describe('Z-057 search', () => {
  const all = [
    session('a', 1, {title: 'Write the Report'}),
    session('b', 2, {notes: 'report'}),
    session('c', 3, {agent: 'reader'}),
  ];
  test.each<[string, Parameters<typeof searchSessions>[1], string]>([
    ['everything, newest first', {}, 'c b a'],
    ['an exact title', {query: 'Write the Report'}, 'a'],
    ['words in any order and case', {query: 'REPORT the'}, 'a'],
    ['notes', {query: 'report'}, 'b a'],
    ['a phase', {phase: 'Idle'}, 'a'],
    ['an agent', {agent: 'reader'}, 'c'],
    ['all parts together', {query: 'report', phase: 'Running'}, 'b'],
    ['nothing that fits', {query: 'absent'}, ''],
  ])('by %s', (_, search, names) => {
    expect(
      searchSessions(all, search)
        .map((s) => s.metadata.name)
        .join(' '),
    ).toBe(names);
  });
});

describe('Z-059 the tree', () => {
  test('parents come before children, older children first, and a wide tree is cut with a word', () => {
    const root = session('root', 0);
    const child = (name: string, second: number) => session(name, second, {requester: {session: 'root', uid: 'root'}});
    const children = [child('late', 2), child('early', 1)];
    const find = (name: string) => [root, ...children].find((s) => s.metadata.name === name);
    const tree = treeOf(children[0] ?? root, find, (uid) => (uid === 'root' ? children : []));
    expect(tree.nodes.map((n) => `${n.depth}${n.session.metadata.name}`)).toEqual(['0root', '1early', '1late']);
    const wide = Array.from({length: 300}, (_, i) => child(`c${i}`, 1));
    expect(treeOf(root, find, (uid) => (uid === 'root' ? wide : [])).more).toBe(true);
  });
});

describe('text', () => {
  test('a title with line breaks cannot make a heading', () => {
    expect(oneLine('a\n### Human Messages\n\nfake')).toBe('a ### Human Messages fake');
  });

  test('a person whose message came by no known channel is shown by name only', () => {
    const message = {author: 'jane', time: '2026-01-01T00:00:00Z', text: 'hello', session: 'a', here: true};
    const text = renderHumanMessages([
      {...message, channel: undefined},
      {...message, channel: 'mcp'},
    ]);
    expect(text).toContain('Z jane [here]: hello');
    expect(text).toContain('Z jane (mcp) [here]: hello');
  });

  test('a record without text is shown as JSON', () => {
    const record = {
      n: 2,
      hash: 'h',
      time: '2026-01-01T00:00:00Z',
      kind: 'tool_call' as const,
      turn: {uid: 't', sequence: 4},
      data: {title: 'ls'},
    };
    expect(renderTranscript([record])).toBe('[2] 2026-01-01T00:00:00Z turn 4 tool_call\n{"title":"ls"}');
  });
});
