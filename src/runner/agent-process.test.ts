import {setImmediate as immediate} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {MAX_DATA, type ShimFrame, STREAM_WINDOW} from '../api/wire/shim.ts';
import {RemoteProcess} from './agent-process.ts';

/** A process that was started, with what is sent to it, and how many bytes of its output were taken. */
function started() {
  const sent: ShimFrame[] = [];
  const process = new RemoteProcess(1, (frame) => sent.push(frame));
  process.receive({type: 'started', run: 1, pid: 2});
  const seen = {taken: 0, credit: STREAM_WINDOW};
  const take = (chunk: Uint8Array): void => {
    seen.taken += chunk.length;
  };
  void process.stdout.pipeTo(new WritableStream({write: take}));
  /** Sends output for as long as it is granted; returns all that was taken by now. */
  const flood = async (bytes: number): Promise<number> => {
    for (let left = bytes; left > 0; left -= MAX_DATA) {
      for (let turn = 0; turn < 8; turn += 1) await immediate();
      const granted = sent.splice(0).flatMap((f) => (f.type === 'credit' && f.stream === 'stdout' ? [f.bytes] : []));
      seen.credit += granted.reduce((sum, n) => sum + n, 0);
      if (seen.credit < MAX_DATA) break;
      seen.credit -= MAX_DATA;
      process.receive({type: 'stdout', data: new Uint8Array(MAX_DATA)});
    }
    for (let turn = 0; turn < 50; turn += 1) await immediate();
    return seen.taken;
  };
  return {process, flood};
}

test('output of an agent that reads its input is taken without end', async () => {
  const {flood} = started();
  expect(await flood(4 * 1_048_576)).toBe(4 * 1_048_576);
});

test('output of an agent that reads none of its answers stands until it reads', async () => {
  const {process, flood} = started();
  const writer = process.stdin.getWriter();
  const written = writer.write(new Uint8Array(2 * STREAM_WINDOW));
  const stood = await flood(8 * 1_048_576);
  expect(stood).toBeLessThanOrEqual(2 * 1_048_576);
  expect(await flood(8 * 1_048_576)).toBe(stood);
  process.receive({type: 'credit', stream: 'stdin', bytes: STREAM_WINDOW});
  await written;
  expect(await flood(4 * 1_048_576)).toBeGreaterThan(stood + 3 * 1_048_576);
});

test('the output of an agent that ends is read to its end, whatever it has not read', async () => {
  const {process, flood} = started();
  process.stdin
    .getWriter()
    .write(new Uint8Array(2 * STREAM_WINDOW))
    .catch(() => {});
  const stood = await flood(8 * 1_048_576);
  process.receive({type: 'exited', run: 1, code: 0, outOfMemory: false});
  for (let turn = 0; turn < 50; turn += 1) await immediate();
  expect(await process.exited).toEqual({code: 0, outOfMemory: false});
  expect(await flood(0)).toBeGreaterThan(stood);
});
