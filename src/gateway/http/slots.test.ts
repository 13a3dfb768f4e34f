import {describe, expect, test} from 'vitest';
import {createSlots} from './slots.ts';

const session = (name: string, namespace = 'team-a') =>
  ({kind: 'session', namespace, name, uid: name, podUid: name}) as const;
const user = (name: string) =>
  ({kind: 'user', user: name, uid: undefined, groups: [], extra: {}, home: undefined, keyName: undefined}) as const;

/** Places as requests from as many addresses as there are requests take them. */
function entrance(places: number): (address?: string) => ReturnType<ReturnType<typeof createSlots>> {
  const enter = createSlots(places);
  let last = 0;
  return (address = `10.0.0.${last++}`) => enter(address);
}

describe('places of requests', () => {
  test.each([
    ['a session', session('one'), 4, session('two')],
    ['a person', user('jane'), 20, user('joe')],
  ])('%s holds no more than its share, and the next one is served', (_, caller, share, other) => {
    const enter = entrance(160);
    const slots = Array.from({length: share}, () => enter());
    for (const slot of slots) slot.claim(caller, 'team-a');
    const more = enter();
    expect(() => more.claim(caller, 'team-a')).toThrow(expect.objectContaining({code: 'too_many_requests'}));
    more.leave();
    enter().claim(other, 'team-a');
    slots[0]?.leave();
    enter().claim(caller, 'team-a');
  });

  test('a namespace holds no more than half, whoever asks in it', () => {
    const enter = entrance(160);
    for (let i = 0; i < 80; i++) enter().claim(session(`s-${i}`), 'team-a');
    const more = enter();
    expect(() => more.claim(user('jane'), 'team-a')).toThrow('Namespace "team-a" has 80 requests in flight');
    more.leave();
    enter().claim(user('jane'), 'team-b');
  });

  test('all together hold no more than there are', () => {
    const enter = entrance(3);
    const slots = [enter(), enter(), enter()];
    expect(enter).toThrow(expect.objectContaining({code: 'busy'}));
    slots[0]?.leave();
    enter();
  });

  test('what was refused leaves nothing behind', () => {
    const enter = entrance(40);
    const held = enter();
    held.claim(session('one'), 'team-a');
    for (let i = 0; i < 100; i++) {
      const slot = enter();
      expect(() => slot.claim(session('one'), 'team-a')).toThrow('in flight');
      slot.leave();
    }
    held.leave();
    enter().claim(session('one'), 'team-a');
  });

  test('one address with credentials that are not known yet holds a tenth, until it is known who asks', () => {
    const enter = entrance(40);
    const strangers = Array.from({length: 4}, () => enter('10.9.9.9'));
    expect(() => enter('10.9.9.9')).toThrow(expect.objectContaining({code: 'too_many_requests'}));
    enter('10.9.9.8').leave();
    strangers[0]?.claim(user('jane'), 'team-a');
    enter('10.9.9.9').leave();
    for (const one of strangers) one.leave();
    const all = Array.from({length: 4}, () => enter('10.9.9.9'));
    expect(all).toHaveLength(4);
  });
});
