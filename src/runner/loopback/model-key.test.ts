import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {eventually} from '../../../test/support/eventually.ts';
import {REAL_KEY} from '../../../test/support/loopback.ts';
import {BASE, ModelBench} from '../../../test/support/model-bench.ts';

let bench: ModelBench;

beforeEach(async () => {
  bench = await ModelBench.start();
});
afterEach(() => bench.stop());

describe('the real key', () => {
  it.each([false, true])('is taken out of what comes back, stream: %s', async (stream) => {
    const text = await (await bench.ask('stub headers', {stream})).text();
    expect(text).not.toContain(REAL_KEY);
    expect(text).toContain('[redacted]');
    expect(bench.log.lines.join('\n')).not.toContain(REAL_KEY);
  });

  it('is taken out of errors and of the last error', async () => {
    const text = await (await bench.ask(`stub error 400 your key ${REAL_KEY} is bad`)).text();
    expect(text).not.toContain(REAL_KEY);
    await eventually(() =>
      expect(bench.loopback.lastModelError()).toMatchObject({status: 400, message: 'your key [redacted] is bad'}),
    );
  });

  it.each<[string, Record<string, string>, string, string]>([
    ['bound to another origin', {key: REAL_KEY, origin: 'https://other.example'}, 'OriginMismatch', `must be ${BASE},`],
    ['without an origin', {key: REAL_KEY}, 'OriginMismatch', 'has no key "origin":'],
    ['missing', {origin: BASE}, 'SecretNotFound', 'has no key "api-key":'],
    ['empty', {key: ' \n', origin: BASE}, 'SecretNotFound', 'has an empty "api-key":'],
    ['empty, without an origin', {key: ''}, 'SecretNotFound', 'has an empty "api-key" and has no key "origin":'],
    ['in no Secret', {}, 'SecretNotFound', 'does not exist, or has neither of the keys "api-key" and "origin":'],
    ['not a header value', {key: 'a\nb', origin: BASE}, 'SecretNotFound', 'is no plain text'],
  ])('%s: every call is refused and nothing is sent', async (_name, secret, reason, says) => {
    await bench.restart({}, secret);
    const message = expect.stringMatching(/the Secret "llm" of model.key /);
    expect(bench.loopback.findings()).toEqual([expect.objectContaining({reason, message})]);
    expect(bench.loopback.findings()[0]?.message).toContain(says);
    expect(bench.loopback.findings()[0]?.message).not.toContain(REAL_KEY);
    expect((await bench.ask('stub say x')).status).toBe(502);
    expect(bench.relay.seen).toEqual([]);
    expect(bench.loopback.lastModelError()).toMatchObject({status: 0, code: reason});
    expect(bench.loopback.modelUsage().requests).toBe(0);
  });

  it('is not sent where the CA bundle holds no certificates', async () => {
    bench.ca = 'no certificate';
    await bench.restart();
    const message = 'the ConfigMap "ours" of model.caBundle holds no PEM certificates that can be read: correct it';
    expect(bench.loopback.findings()).toEqual([expect.objectContaining({reason: 'SecretNotFound', message})]);
    expect((await bench.ask('stub say x')).status).toBe(502);
  });

  it('is not even read for a base URL that cannot be used', async () => {
    await bench.restart({baseUrl: 'https://model.example:99999'});
    expect(bench.loopback.findings()).toEqual([expect.objectContaining({reason: 'StartFailed'})]);
    expect((await bench.ask('stub say x')).status).toBe(502);
  });

  it('is read anew for each call, so a corrected Secret helps at once', async () => {
    await bench.restart({}, {key: REAL_KEY, origin: 'https://other.example'});
    await bench.writeSecret('origin', BASE);
    expect((await bench.ask('stub say x')).status).toBe(200);
    expect(bench.loopback.findings()).toEqual([]);
  });
});
