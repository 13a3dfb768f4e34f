import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setImmediate as immediate} from 'node:timers/promises';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {Acked, EventBatch, RefusedRequest, RunnerEvent} from '../api/wire/runner.ts';
import {judge} from '../domain/runner/verdict.ts';
import {Delivery} from './delivery.ts';
import {GatewayRefused} from './gateway-client.ts';
import {Journal} from './journal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-delivery-'));
});
afterEach(() => rmSync(folder, {recursive: true}));

const note = (text: string): RunnerEvent => ({type: 'record', record: {time: 't', kind: 'message', text}});
const finished: RunnerEvent = {
  type: 'turnFinished',
  turnUid: 'u1',
  turnName: 't1',
  phase: 'Completed',
  response: 'bad',
  finishedAt: '2026-01-01T00:00:00.000Z',
};
const texts = (events: RunnerEvent[]) => events.map((e) => (e.type === 'record' ? (e.record.text ?? '') : e.type));

/** A gateway that keeps numbers as the archive does, and refuses what `refuses` gives a status for. */
class Gateway {
  readonly stored: RunnerEvent[] = [];
  readonly acked = new Map<number, number>();
  posts = 0;
  refuses: (batch: EventBatch) => number | undefined = () => undefined;

  async post(batch: EventBatch): Promise<Acked> {
    this.posts += 1;
    const status = this.refuses(batch);
    if (status !== undefined) throw new GatewayRefused(status, judge(status, true), '{"code":"x"}');
    const before = this.acked.get(batch.epoch) ?? 0;
    if (batch.from > before + 1) throw new GatewayRefused(409, 'refused', JSON.stringify({code: 'gap', acked: before}));
    this.stored.push(...batch.events.slice(before + 1 - batch.from));
    const last = Math.max(before, batch.from + batch.events.length - 1);
    this.acked.set(batch.epoch, last);
    const asked = batch.events.flatMap((e) =>
      e.type === 'question' ? [{requestId: e.requestId, why: 'no room'}] : [],
    );
    return {acked: last, ...(asked.length === 0 ? {} : {refused: asked})};
  }
}

function start(gateway: Gateway, journal = new Journal(folder, 1)) {
  let epoch = 1;
  const logged: string[] = [];
  const waits: number[] = [];
  const refused: RefusedRequest[] = [];
  const keep = (_fields: object, message: string) => void logged.push(message);
  const delivery = new Delivery({
    podUid: 'p',
    journal,
    gateway,
    log: {debug: keep, info: keep, warn: keep, error: keep},
    refused: (requests) => void refused.push(...requests),
    nextEpoch: () => (epoch += 1),
    now: () => new Date(0),
    async pause(milliseconds) {
      waits.push(milliseconds);
      await immediate();
    },
  });
  const ended = delivery.run();
  const settled = async () => {
    await delivery.flush(10_000);
    delivery.stop();
    return await ended;
  };
  return {journal, delivery, settled, ended, logged, waits, refused};
}

const asks = (text: string): RunnerEvent => {
  return {type: 'question', requestId: '1-1', turnUid: 'u1', turnName: 't1', kind: 'Permission', text, expiresAt: 't'};
};

test('requests that got no Question are handed on', async () => {
  const {journal, settled, refused} = start(new Gateway());
  journal.append(note('a'));
  journal.append(asks('May I?'));
  expect(await settled()).toBe('stopped');
  expect(refused).toEqual([{requestId: '1-1', why: 'no room'}]);
});

describe('an archive that lost what it had', () => {
  test('gets all that is still here under new numbers, after a note of what is missing', async () => {
    const gateway = new Gateway();
    const {journal, settled, logged} = start(gateway);
    for (const text of ['a', 'b', 'c']) journal.append(note(text));
    await expect.poll(() => journal.isEmpty()).toBe(true);
    gateway.acked.set(1, 1);
    gateway.stored.splice(1);
    journal.append(note('d'));
    journal.append({...finished});
    expect(await settled()).toBe('stopped');
    expect(texts(gateway.stored)).toEqual([
      'a',
      'the archive lost what it had stored: 2 entries are missing here (numbers 2 to 3 of epoch 1)',
      'd',
      'turnFinished',
    ]);
    expect([...gateway.acked]).toEqual([
      [1, 1],
      [2, 3],
    ]);
    expect(logged).toContain('the archive lost events that it had stored; the transcript will say so');
    expect(readdirSync(folder)).toEqual(['events-2.ndjson']);
  });

  test('gets what waits of earlier epochs first, and what comes later after it', async () => {
    const earlier = new Journal(folder, 1);
    for (let n = 0; n < 5; n += 1) earlier.append(note(`old ${n}`));
    const gateway = new Gateway();
    const first = start(gateway, earlier);
    gateway.refuses = (batch) => (batch.from > 1 ? 503 : undefined);
    await expect.poll(() => gateway.stored.length).toBe(5);
    earlier.append(note('old 5'));
    await expect.poll(() => first.waits.length).toBeGreaterThan(0);
    first.delivery.stop();
    await first.ended;
    // The file was written anew without what was stored: a runner that starts again cannot send that.
    const journal = new Journal(folder, 2);
    journal.append(note('new'));
    journal.acknowledge(1, 5);
    gateway.acked.clear();
    gateway.stored.splice(0);
    gateway.refuses = () => undefined;
    const second = start(gateway, journal);
    await second.settled();
    expect(texts(gateway.stored).slice(1)).toEqual(['old 5', 'new']);
  });
});

describe('an event that is refused for good', () => {
  const refusesBad = (batch: EventBatch) => (JSON.stringify(batch.events).includes('bad') ? 400 : undefined);

  test('is found among the others, and a note takes its number', async () => {
    const gateway = new Gateway();
    gateway.refuses = refusesBad;
    const {journal, settled, waits} = start(gateway);
    for (let n = 1; n <= 40; n += 1) journal.append(note(n === 17 ? 'bad' : `${n}`));
    await settled();
    expect(gateway.stored).toHaveLength(40);
    expect(texts(gateway.stored)[16]).toBe(
      'a record (message) is missing here: the platform refused it: the gateway answered 400: {"code":"x"}',
    );
    expect(texts(gateway.stored)[17]).toBe('18');
    // Gateways that are replaced one by one may differ for a while.
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(10_000);
  });

  test('and is a request: nobody waits for an answer to it', async () => {
    const gateway = new Gateway();
    gateway.refuses = refusesBad;
    const {journal, settled, refused} = start(gateway);
    journal.append(asks('bad'));
    await settled();
    expect(refused).toEqual([{requestId: '1-1', why: expect.stringContaining('400')}]);
    expect(texts(gateway.stored)[0]).toContain('an event (question) is missing here');
  });

  test('many of a kind are waited for once', async () => {
    const gateway = new Gateway();
    gateway.refuses = refusesBad;
    const {journal, settled} = start(gateway);
    for (let n = 1; n <= 100; n += 1) journal.append(note('bad'));
    await settled();
    expect(gateway.stored).toHaveLength(100);
    expect(gateway.posts).toBeLessThan(330);
  });

  test('the end of a turn still ends it, and says that the report was refused', async () => {
    const gateway = new Gateway();
    gateway.refuses = refusesBad;
    const {journal, settled} = start(gateway);
    journal.append(note('before'));
    journal.append(finished);
    await settled();
    expect(gateway.stored[1]).toEqual({
      type: 'turnFinished',
      turnUid: 'u1',
      turnName: 't1',
      phase: 'Failed',
      error: {code: 'report_refused', message: expect.stringContaining('ended as Completed, and the platform refused')},
      finishedAt: '2026-01-01T00:00:00.000Z',
    });
  });
});

test('a refusal that passes, as while gateways are replaced, loses nothing', async () => {
  const gateway = new Gateway();
  gateway.refuses = () => (gateway.posts < 8 ? 404 : undefined);
  const {journal, settled} = start(gateway);
  journal.append(note('a'));
  await settled();
  expect(texts(gateway.stored)).toEqual(['a']);
});

test('a gateway that takes nothing at all ends the runner, after minutes and not in a spin', async () => {
  const gateway = new Gateway();
  gateway.refuses = () => 400;
  const {journal, ended, waits} = start(gateway);
  journal.append(note('a'));
  expect(await ended).toBe('refused');
  expect(gateway.posts).toBeLessThan(100);
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(180_000);
});

test.each([503, 425, 429, 408])('status %i is waited out without end, and nothing is replaced', async (status) => {
  const gateway = new Gateway();
  gateway.refuses = () => (gateway.posts < 400 ? status : undefined);
  const {journal, settled} = start(gateway);
  journal.append(note('a'));
  await settled();
  expect(texts(gateway.stored)).toEqual(['a']);
});

test('410 ends the runner at once', async () => {
  const gateway = new Gateway();
  gateway.refuses = () => 410;
  const {journal, ended} = start(gateway);
  journal.append(note('a'));
  expect(await ended).toBe('fenced');
  expect(gateway.posts).toBe(1);
});
