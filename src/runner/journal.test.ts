import {appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import type {RunnerEvent} from '../api/wire/runner.ts';
import {Journal} from './journal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'carrel-journal-'));
});
afterEach(() => rmSync(folder, {recursive: true}));

const note = (text: string): RunnerEvent => ({type: 'record', record: {time: 't', kind: 'notice', text}});

test('events wait until they are acknowledged, in order, and survive the process', () => {
  const first = new Journal(folder, 1);
  for (const text of ['a', 'b', 'c']) first.append(note(text));
  first.acknowledge(1, 2);
  expect(first.batch()).toEqual({epoch: 1, from: 3, events: [note('c')]});
  const second = new Journal(folder, 2);
  second.append(note('d'));
  // What was acknowledged is sent again: the gateway knows it by its number.
  expect(second.batch()).toEqual({epoch: 1, from: 1, events: [note('a'), note('b'), note('c')]});
  second.acknowledge(1, 3);
  expect(second.batch()).toEqual({epoch: 2, from: 1, events: [note('d')]});
  second.acknowledge(2, 1);
  expect(second.isEmpty()).toBe(true);
  expect(readdirSync(folder)).toEqual(['events-2.ndjson']);
});

test('a torn last line is no event', () => {
  new Journal(folder, 1).append(note('whole'));
  appendFileSync(path.join(folder, 'events-1.ndjson'), '{"n":2,"event":{"type":"rec');
  expect(new Journal(folder, 2).batch()).toEqual({epoch: 1, from: 1, events: [note('whole')]});
});

test('a batch keeps to the sizes that the gateway takes', () => {
  const journal = new Journal(folder, 1);
  for (let n = 0; n < 300; n += 1) journal.append(note('x'));
  expect(journal.batch()?.events.length).toBe(256);
  journal.acknowledge(1, 300);
  for (let n = 0; n < 10; n += 1) journal.append(note('y'.repeat(200_000)));
  const batch = journal.batch();
  expect(batch).toMatchObject({from: 301});
  expect(JSON.stringify(batch).length).toBeLessThan(700_000);
});

test('a full journal holds the agent back until the gateway has taken some', async () => {
  const journal = new Journal(folder, 1);
  for (let n = 0; n < 90; n += 1) journal.append(note('z'.repeat(200_000)));
  let room = false;
  const waiting = journal.room().then(() => {
    room = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(room).toBe(false);
  journal.acknowledge(1, 90);
  await waiting;
});

test('the file stays small while events come and go, and holds what waits', () => {
  const journal = new Journal(folder, 1);
  for (let n = 1; n <= 100; n += 1) {
    journal.append(note('x'.repeat(100_000)));
    journal.acknowledge(1, n - 1);
  }
  expect(statSync(path.join(folder, 'events-1.ndjson')).size).toBeLessThan(3_000_000);
  expect(new Journal(folder, 2).batch()?.events.at(-1)).toEqual(note('x'.repeat(100_000)));
  expect(journal.batch()).toMatchObject({from: 100});
});

test('sizes are those on the wire, not those in memory', () => {
  const journal = new Journal(folder, 1);
  for (let n = 0; n < 10; n += 1) journal.append(note('語'.repeat(60_000)));
  expect(Buffer.byteLength(JSON.stringify(journal.batch()))).toBeLessThan(1_000_000);
});

test('a burst leaves room in the volume for the state, loses nothing, and is on disk again once the gateway took it', () => {
  const journal = new Journal(folder, 1);
  for (let i = 0; i < 200; i += 1) journal.append(note(`${i} ${'x'.repeat(100_000)}`));
  const used = () => readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  let sent = 0;
  for (let batch = journal.batch(); batch !== undefined; batch = journal.batch()) {
    expect(used()).toBeLessThan(13 * 1_048_576);
    expect(batch.from).toBe(sent + 1);
    sent += batch.events.length;
    journal.acknowledge(batch.epoch, sent);
  }
  expect(sent).toBe(200);
  journal.append(note('after'));
  const last = readFileSync(path.join(folder, 'events-1.ndjson'), 'utf8').trimEnd().split('\n').at(-1);
  expect(JSON.parse(last ?? '')).toEqual({n: 201, event: note('after')});
});

test('a new beginning without room on the volume keeps the old files until what they hold is in the new one', () => {
  const journal = new Journal(folder, 1);
  for (const text of ['a', 'b', 'c']) journal.append(note(text));
  // Writes to it fail as they do on a full volume.
  symlinkSync('/dev/full', path.join(folder, 'events-2.ndjson.new'));
  journal.beginAnew(2, note('lost'));
  journal.append(note('d'));
  expect(readdirSync(folder)).toEqual(['events-1.ndjson']);
  const old = readFileSync(path.join(folder, 'events-1.ndjson'), 'utf8').trimEnd().split('\n');
  expect(old.map((line) => JSON.parse(line))).toEqual(
    ['a', 'b', 'c'].map((text, i) => ({n: i + 1, event: note(text)})),
  );
  expect(journal.batch()).toEqual({epoch: 2, from: 1, events: ['lost', 'a', 'b', 'c', 'd'].map(note)});
  journal.acknowledge(2, 2);
  expect(readdirSync(folder)).toEqual(['events-2.ndjson']);
  journal.append(note('e'));
  expect(new Journal(folder, 3).batch()).toEqual({epoch: 2, from: 3, events: ['b', 'c', 'd', 'e'].map(note)});
});
