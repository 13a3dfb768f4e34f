import {afterEach, beforeEach, expect, test} from 'vitest';
import {RunnerGateway} from '../../test/support/runner-gateway.ts';
import type {Desired} from '../api/wire/runner.ts';
import {DesiredWatch} from './desired-watch.ts';
import {GatewayClient} from './gateway-client.ts';

let gateway: RunnerGateway;
let client: GatewayClient;
let watch: DesiredWatch;
let seen: [Desired['questions'], boolean][];

beforeEach(async () => {
  gateway = new RunnerGateway('p');
  const url = new URL(`http://127.0.0.1:${await gateway.listen()}`);
  client = new GatewayClient(url, {read: async () => 'token'});
  seen = [];
  const quiet = () => undefined;
  watch = new DesiredWatch({
    podUid: 'p',
    gateway: client,
    log: {debug: quiet, info: quiet, warn: quiet, error: quiet},
    onChange: (desired, first) => void seen.push([desired.questions, first]),
    onEnd: quiet,
  });
});
afterEach(() => {
  watch.stop();
  client.close();
  gateway.close();
});

test('the first document is the first of its stream that says which questions wait: what comes before knows of none', async () => {
  const running = watch.run();
  await expect.poll(() => seen).toEqual([[undefined, true]]);
  gateway.want({questions: ['1-1']});
  gateway.want({questions: []});
  await expect
    .poll(() => seen.slice(1))
    .toEqual([
      [['1-1'], true],
      [[], false],
    ]);
  gateway.endStreams();
  await expect.poll(() => seen.slice(3)).toEqual([[[], true]]);
  watch.stop();
  expect(await running).toBe('stopped');
});
