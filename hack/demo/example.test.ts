import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {ROOT} from '../image/build.ts';
import {fillExample} from './example.ts';

test('the filled copy of the first session has the digests, and its comments say what the template says', async () => {
  const template = await readFile(join(ROOT, 'examples/first-session.yaml'), 'utf8');
  const filled = fillExample(template, {scriptedAgent: 'a@sha256:1', workspace: 'w@sha256:2'});
  expect(filled).toContain('  image: a@sha256:1\n');
  expect(filled).toContain('    image: w@sha256:2\n');
  expect(filled).not.toContain('${');
  const comments = (text: string) => text.split('\n').filter((line) => line.trimStart().startsWith('#'));
  expect(comments(filled)).toEqual(comments(template));
});
