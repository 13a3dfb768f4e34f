import {expect, test} from 'vitest';
import {encodeJson} from './encode.ts';

test('a body is written as the API server writes its own, and means the same', () => {
  const body = [{op: 'test', path: '/status', value: {said: 'at <anonymous> & co \u2028 é 😀 "\n\b\u0001'}}];
  const text = encodeJson(body);
  expect(text).toContain(String.raw`at \u003canonymous\u003e \u0026 co \u2028 é 😀 \"\n\b\u0001`);
  expect(JSON.parse(text)).toEqual(body);
});
