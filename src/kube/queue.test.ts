import {describe, expect, test} from 'vitest';
import {fakeClock, turns} from '../../test/support/fake-clock.ts';
import {createQueue, type QueueParts, type WorkResult} from './queue.ts';

function open(more: Partial<QueueParts> = {}) {
  const clock = fakeClock();
  const ran: string[] = [];
  const gates = new Map<string, (result: WorkResult | Error) => void>();
  const queue = createQueue({
    clock,
    workers: 2,
    random: () => 0.5,
    failed: () => {},
    work: (key) => {
      ran.push(key);
      return new Promise((resolve, reject) => {
        gates.set(key, (result) => (result instanceof Error ? reject(result) : resolve(result)));
      });
    },
    ...more,
  });
  const end = async (key: string, result?: WorkResult | Error) => {
    gates.get(key)?.(result);
    await turns();
  };
  return {clock, queue, ran, end};
}

describe('queue', () => {
  test('a key is never worked on twice at once, and runs again when added meanwhile', async () => {
    const {queue, ran, end} = open();
    for (let n = 0; n < 5; n++) queue.add('a');
    expect(ran).toEqual(['a']);
    queue.add('a');
    queue.add('a');
    await end('a');
    expect(ran).toEqual(['a', 'a']);
    await end('a');
    expect(ran).toEqual(['a', 'a']);
    expect(queue.pending()).toBe(0);
  });

  test('high overtakes normal, but not for ever', async () => {
    const {queue, ran, end} = open({workers: 1});
    queue.add('first');
    queue.add('slow');
    for (let n = 0; n < 12; n++) queue.add(`fast-${n}`, 'high');
    for (let at = 0; at < ran.length && at < 14; at++) await end(ran[at] ?? '');
    expect(ran.indexOf('slow')).toBeGreaterThan(1);
    expect(ran.indexOf('slow')).toBeLessThan(12);
  });

  test('failures back off twice as long each time, and a success forgets them', async () => {
    const delays: number[] = [];
    const {clock, queue, ran, end} = open({failed: (_key, _error, retry) => delays.push(retry.delayMs)});
    queue.add('a');
    for (const ms of [200, 400, 800]) {
      await end('a', new Error('no'));
      await clock.advance(ms);
    }
    expect(delays).toEqual([200, 400, 800]);
    expect(ran).toHaveLength(4);
    await end('a');
    queue.add('a');
    await end('a', new Error('no'));
    expect(delays.at(-1)).toBe(200);
  });

  test('a change brings a failing key forward, but at most once a second', async () => {
    const {clock, queue, ran, end} = open({backoff: {firstMs: 30_000, maxMs: 60_000, floorMs: 1_000}});
    queue.add('a');
    await end('a', new Error('no'));
    queue.add('a', 'high');
    await clock.advance(999);
    expect(ran).toHaveLength(1);
    await clock.advance(1);
    expect(ran).toHaveLength(2);
  });

  test('the result asks for a later look; an earlier add cancels that timer', async () => {
    const {clock, queue, ran, end} = open();
    queue.add('a');
    await end('a', 5_000);
    await clock.advance(4_999);
    expect(ran).toHaveLength(1);
    queue.add('a');
    await end('a');
    await clock.advance(10_000);
    expect(ran).toHaveLength(2);
    expect(clock.timers()).toBe(0);
  });

  test('`not now` keeps the count of failures', async () => {
    const delays: number[] = [];
    const {clock, queue, end} = open({failed: (_key, _error, retry) => delays.push(retry.failures)});
    queue.add('a');
    await end('a', new Error('no'));
    await clock.advance(200);
    await end('a', 'not now');
    await clock.advance(1_000);
    queue.add('a');
    await end('a', new Error('no'));
    expect(delays).toEqual([1, 2]);
  });

  test('stop drops what waits and resolves when the running end', async () => {
    const {queue, ran, end, clock} = open({workers: 1});
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    await clock.advance(100);
    expect(stopped).toBe(false);
    await end('a', 10);
    await stopping;
    await clock.advance(100);
    expect(ran).toEqual(['a']);
    expect(clock.timers()).toBe(0);
  });
});
