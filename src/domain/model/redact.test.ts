import fc from 'fast-check';
import {expect, it} from 'vitest';
import {Redactor, redactText} from './redact.ts';

const SECRET = 'sk-real-key-0001';

function through(chunks: readonly string[]): string {
  const redactor = new Redactor(SECRET);
  return Buffer.concat([...chunks.map((chunk) => redactor.push(Buffer.from(chunk))), redactor.end()]).toString();
}

it('a key is taken out wherever the chunks are cut', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.array(fc.nat({max: 60}), {maxLength: 8}), (before, after, cuts) => {
      const text = before + SECRET + after + SECRET;
      const at = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
      const chunks = at.slice(1).map((end, index) => text.slice(at[index], end));
      expect(through(chunks)).not.toContain(SECRET);
    }),
  );
});

it('a key that comes byte by byte is taken out, and nothing else', () => {
  expect(through([...`x${SECRET.slice(0, 5)} ${SECRET}y`])).toBe(`x${SECRET.slice(0, 5)} [redacted]y`);
});

it('only what can be the beginning of the key is held back', () => {
  const redactor = new Redactor(SECRET);
  expect(redactor.push(Buffer.from('hello sk-re')).toString()).toBe('hello ');
  expect(redactor.push(Buffer.from('st')).toString()).toBe('sk-rest');
});

it('a key is taken out of base64, URLs and JSON strings too', () => {
  const odd = 'key"with/odd+chars';
  expect(redactText(odd, JSON.stringify({odd}))).toBe('{"odd":"[redacted]"}');
  expect(redactText(odd, `?k=${encodeURIComponent(odd)}`)).toBe('?k=[redacted]');
  expect(redactText(odd, Buffer.from(odd).toString('base64'))).toMatch(/^\[redacted\]=*$/);
});

it('an empty key redacts nothing', () => {
  expect(redactText('', 'text')).toBe('text');
});
