import {mkdtemp, readlink, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {findProcess, startTimeOf} from './process.ts';

let pids: string;
let startTime: string;
let network: string;

beforeAll(async () => {
  pids = await mkdtemp(join(tmpdir(), 'carrel-pids-'));
  startTime = (await startTimeOf(process.pid)) ?? '';
  network = await readlink('/proc/self/ns/net');
});

afterAll(() => rm(pids, {recursive: true}));

const cases = [
  {state: 'the process that was started', text: () => `${process.pid}\n${startTime}\n${network}\n`, known: true},
  {
    state: 'its number now belongs to a later process',
    text: () => `${process.pid}\n${Number(startTime) - 1}\n${network}\n`,
    known: false,
  },
  {state: 'its number is used in another network', text: () => `${process.pid}\n${startTime}\nnet:[1]\n`, known: false},
  {state: 'nobody has its number', text: () => `4194303\n${startTime}\n${network}\n`, known: false},
  {state: 'half a file of a crash', text: () => `${process.pid}\n`, known: false},
  {state: 'an empty file', text: () => '', known: false},
];

test.each(cases)('$state: known again is $known', async ({text, known}) => {
  await writeFile(join(pids, 'one'), text());
  expect(await findProcess(pids, 'one')).toBe(known ? process.pid : undefined);
});

test('a process that was never written down is not known', async () => {
  expect(await findProcess(pids, 'never')).toBeUndefined();
});
