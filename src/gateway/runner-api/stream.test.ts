import {createServer} from 'node:http';
import {afterEach, beforeEach, expect, it} from 'vitest';
import {fakeClock} from '../../../test/support/fake-clock.ts';
import {turn} from '../../../test/support/runner-objects.ts';
import {DesiredLine} from '../../api/wire/runner.ts';
import {listen} from '../../http/listen.ts';
import type {DesiredView} from './desired.ts';
import {DesiredStream, type StreamSource} from './stream.ts';

const clock = fakeClock();
const PING_MS = 25_000;
let seen: Partial<DesiredView['document']>;
let withTurn: boolean;
let unread: boolean;
/** Ends the stream; what the runner was told from its beginning on. */
let told: () => Promise<string[]>;
let close: () => void;

const source: StreamSource = {
  view: () => ({
    document: {podUid: 'p', attempt: 1, session: {name: 's', uid: 'u'}, answers: [], desired: 'Run', ...seen},
    turn: withTurn ? {object: turn(), preface: []} : undefined,
    version: 1,
  }),
  input: () => (unread ? Promise.reject(new Error('no answer')) : Promise.resolve({kind: 'read', parts: []})),
  giveUp: () => Promise.resolve(),
  problem: () => undefined,
};

beforeEach(async () => {
  [seen, withTurn, unread] = [{questions: ['r1']}, false, false];
  const streaming = Promise.withResolvers<DesiredStream>();
  const server = createServer((_, response) => streaming.resolve(new DesiredStream(response, source, clock)));
  const reply = fetch(`http://127.0.0.1:${await listen(server, 0, '127.0.0.1')}`);
  const stream = await streaming.promise;
  await clock.advance(0);
  told = async () => {
    stream.close();
    const lines = (await (await reply).text()).trim().split('\n');
    return lines.map((line) => nameOf(DesiredLine.parse(JSON.parse(line))));
  };
  close = () => {
    stream.close();
    server.close();
  };
});
afterEach(() => close());

function nameOf(line: DesiredLine): string {
  if ('ping' in line) return 'ping';
  return line.turn === undefined ? `questions ${line.questions?.join() ?? 'not known'}` : 'turn';
}

it('tells a runner each 25 s that the latest line still holds', async () => {
  await clock.advance(2 * PING_MS);
  expect(await told()).toEqual(['questions r1', 'ping', 'ping']);
});

it('never says that a line still holds that holds no more, though nothing told of the change', async () => {
  seen = {};
  await clock.advance(PING_MS);
  expect(await told()).toEqual(['questions r1', 'questions not known']);
});

it('says nothing while the document cannot be made, and then the document', async () => {
  [withTurn, unread] = [true, true];
  await clock.advance(PING_MS + 2_000);
  unread = false;
  await clock.advance(1_000);
  expect(await told()).toEqual(['questions r1', 'turn']);
});

it('says after a trouble that the line still holds, if it does', async () => {
  [withTurn, unread] = [true, true];
  await clock.advance(PING_MS);
  withTurn = false;
  await clock.advance(1_000);
  expect(await told()).toEqual(['questions r1', 'ping']);
});
