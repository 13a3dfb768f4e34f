import {expect, test} from 'vitest';
import {jsonLines} from './acp-stream.ts';

/** What passes of this output, cut into small chunks, and the lines that are no JSON. */
async function passed(output: string) {
  const others: string[] = [];
  const bytes = Buffer.from(output);
  const chunks = Array.from({length: Math.ceil(bytes.length / 1_000)}, (_, i) =>
    bytes.subarray(i * 1_000, (i + 1) * 1_000),
  );
  const lines = jsonLines(ReadableStream.from(chunks), {
    otherLine: (sample) => others.push(sample),
    room: async () => {},
  });
  return {text: await new Response(lines).text(), others};
}

test('lines that can be JSON pass whole, others are told of', async () => {
  const json = `{"a":"${'x'.repeat(5_000)}"}\n`;
  expect(await passed(`hello\n${json}  ${json}`)).toEqual({text: `${json}  ${json}`, others: ['hello']});
});

test('a message whose values would fill the memory breaks the stream', async () => {
  await expect(passed(`{"a":[${'{},'.repeat(60_000)}0]}\n`)).rejects.toThrow('more than 100000 values');
  await expect(passed('['.repeat(100_001))).rejects.toThrow('more than 100000 values');
});

test('commas and brackets inside of texts are no values, and each message is counted for itself', async () => {
  const text = `{"a":${JSON.stringify('\\"[{,'.repeat(50_000))}}\n`;
  const list = `{"a":[${'1,'.repeat(60_000)}1]}\n`;
  expect((await passed(text + list + list)).text).toBe(text + list + list);
});
