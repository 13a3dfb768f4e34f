import {describe, expect, test} from 'vitest';
import {GROUP_NAMES} from '../../api/groups.ts';
import {expandGroups, type Grouped, intersect, parseGroups, unknownGroups} from './groups.ts';

const TOOLS: Grouped[] = [
  {name: 'ask', group: 'ask', effect: 'create', composites: {}},
  {name: 'act', group: 'sessions', effect: 'update', composites: {self_session: 'narrowed'}},
  {name: 'show', group: 'sessions', effect: 'read', composites: {self_session: 'whole'}},
  {name: 'start', group: 'sessions', effect: 'create', composites: {}},
];

describe('groups', () => {
  test.each([
    ['sessions', 'act:whole,show:whole,start:whole'],
    ['sessions_readonly', 'show:whole'],
    ['self_session', 'act:narrowed,show:whole'],
    ['self_session,sessions', 'act:whole,show:whole,start:whole'],
    ['sessions,self_session', 'act:whole,show:whole,start:whole'],
    ['ask_readonly', ''],
    ['self_session_readonly', ''],
    ['health,triggers', ''],
    ['bogus', ''],
    ['', ''],
  ])('Z-024 Z-025 %s gives %s', (groups, key) => {
    expect(expandGroups(parseGroups(groups) ?? [], TOOLS).key).toBe(key);
  });

  test.each([
    ['sessions', 'self_session', 'act:narrowed,show:whole'],
    ['self_session', 'sessions', 'act:narrowed,show:whole'],
    ['self_session', 'ask', ''],
    ['sessions,ask', 'ask,sessions_readonly', 'ask:whole,show:whole'],
  ])('%s narrowed by %s is %s', (a, b, key) => {
    expect(intersect(expandGroups(a.split(','), TOOLS), expandGroups(b.split(','), TOOLS)).key).toBe(key);
  });

  test('Z-026 unknown names are told', () => {
    expect(unknownGroups(['sessions', 'bogus', 'self_session', 'health_readonly', '__proto__'])).toEqual([
      'bogus',
      '__proto__',
    ]);
  });

  test.each(GROUP_NAMES)('%s, which an Agent may name, gives tools', (group) => {
    expect(expandGroups([group], TOOLS).tools.size).toBeGreaterThan(0);
  });

  test('an absent parameter is not an empty one', () => {
    expect([parseGroups(null), parseGroups('')]).toEqual([undefined, []]);
  });
});
