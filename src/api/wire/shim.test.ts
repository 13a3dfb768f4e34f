import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {encodeFrame, FrameDecoder, MAX_DATA, MAX_FRAME, type ShimFrame, START_FAILURES} from './shim.ts';

const count = fc.nat();
const bytes = fc.uint8Array({maxLength: 2000});
const entry = fc.record({name: fc.string(), value: fc.string()});
const frame: fc.Arbitrary<ShimFrame> = fc.oneof(
  fc.record(
    {type: fc.constant('hello'), version: count, nonce: fc.string({maxLength: 32})},
    {requiredKeys: ['type', 'version']},
  ),
  fc.record({type: fc.constant('welcome'), version: count, nonce: fc.string({maxLength: 32})}),
  fc.record({
    type: fc.constant('start'),
    spec: fc.record({
      run: count,
      argv: fc.array(fc.string()),
      env: fc.array(entry),
      files: fc.array(fc.record({path: fc.string(), content: fc.string()})),
    }),
  }),
  fc.record({type: fc.constant('started'), run: count, pid: count}),
  fc.record({
    type: fc.constant('startFailed'),
    run: count,
    reason: fc.constantFrom(...START_FAILURES),
    message: fc.string(),
  }),
  fc.record(
    {
      type: fc.constant('exited'),
      run: count,
      code: count,
      signal: fc.constantFrom('SIGTERM'),
      outOfMemory: fc.boolean(),
    },
    {requiredKeys: ['type', 'run', 'outOfMemory']},
  ),
  fc.record({type: fc.constant('signal'), signal: fc.constantFrom('SIGTERM', 'SIGKILL', 'SIGINT')}),
  fc.record({type: fc.constantFrom('closeStdin', 'shutdown', 'terminating')}),
  fc.record({type: fc.constantFrom('ping', 'pong'), n: count}),
  fc.record({type: fc.constant('credit'), stream: fc.constantFrom('stdin', 'stdout', 'stderr'), bytes: count}),
  fc.record({type: fc.constant('stdin'), data: bytes}),
  fc.record({type: fc.constant('stdout'), data: bytes}),
  fc.record({type: fc.constant('stderr'), data: bytes}),
);

const length = (n: number): Uint8Array => {
  const header = new Uint8Array(5);
  new DataView(header.buffer).setUint32(0, n);
  return header;
};
const control = (text: string): Uint8Array => {
  const payload = new TextEncoder().encode(text);
  const all = new Uint8Array(5 + payload.length);
  new DataView(all.buffer).setUint32(0, payload.length + 1);
  all[4] = 16;
  all.set(payload, 5);
  return all;
};

describe('frames of the shim protocol', () => {
  test('every frame comes back as it was, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(frame, {maxLength: 8}), fc.integer({min: 1, max: 97}), (frames, cut) => {
        const all = Buffer.concat(frames.map(encodeFrame));
        const decoder = new FrameDecoder(MAX_FRAME.fromSidecar);
        const seen: ShimFrame[] = [];
        for (let at = 0; at < all.length; at += cut) seen.push(...decoder.push(all.subarray(at, at + cut)));
        expect(seen).toEqual(frames);
      }),
      {numRuns: 200},
    );
  });

  test('random bytes are frames or a protocol error, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 200}), (noise) => {
        try {
          new FrameDecoder(MAX_FRAME.fromShim).push(noise);
        } catch (error) {
          expect(error).toMatchObject({name: 'ShimProtocolError'});
        }
      }),
    );
  });

  test.each<[string, Uint8Array]>([
    ['a frame longer than allowed, before a byte of it is kept', length(MAX_FRAME.fromShim + 1)],
    ['an empty frame', length(0)],
    ['more data than one frame may carry', encodeFrame({type: 'stdout', data: new Uint8Array(MAX_DATA + 1)})],
    ['an unknown kind of frame', Uint8Array.from([0, 0, 0, 1, 99])],
    ['a control frame that is not JSON', control('{"type":')],
    ['a control frame that is a list', control('[]')],
    ['an unknown control frame', control('{"type":"sudo"}')],
    ['an inherited field', control('{"type":"started","__proto__":{"run":1,"pid":1}}')],
    ['a negative number', control('{"type":"started","run":-1,"pid":1}')],
    ['a fraction', control('{"type":"credit","stream":"stdout","bytes":0.5}')],
    ['a signal that is not ours to send', control('{"type":"signal","signal":"SIGSTOP"}')],
    ['a nonce without end', control(`{"type":"hello","version":1,"nonce":"${'x'.repeat(200)}"}`)],
  ])('refuses %s', (_name, hostile) => {
    expect(() => new FrameDecoder(MAX_FRAME.fromShim).push(hostile)).toThrow(/./);
  });
});
