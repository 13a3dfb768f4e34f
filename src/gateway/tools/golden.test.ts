import {readdirSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {stringify} from 'yaml';
import {TOOLS} from './index.ts';

const FOLDER = new URL('../../../test/golden/tools/', import.meta.url).pathname;

describe('what clients are told of each tool (update with `npx vitest run -u src/gateway/tools/golden.test.ts`)', () => {
  // Read before anything is written: a missing file must fail even where snapshots are written.
  const there = readdirSync(FOLDER).sort();

  test.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', async (name, tool) => {
    const faces = {name, effect: tool.effect, composites: tool.composites, whole: tool.describe('whole')};
    const narrowed = tool.composites.self_session === 'narrowed' ? {narrowed: tool.describe('narrowed')} : {};
    await expect(stringify({...faces, ...narrowed}, {lineWidth: 120})).toMatchFileSnapshot(`${FOLDER}${name}.yaml`);
  });

  test('every tool has its file, and no file is left over', () => {
    expect(there).toEqual(TOOLS.map((tool) => `${tool.name}.yaml`).sort());
  });
});

describe('the laws of tools', () => {
  test.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
    const {description, inputSchema} = tool.describe('whole');
    const schema = JSON.stringify(inputSchema);
    expect(name).toMatch(/^[a-z][a-z_]{2,47}$/);
    expect(description.length).toBeGreaterThan(40);
    expect(description.length).toBeLessThan(2_048);
    expect(schema).not.toMatch(/"(anyOf|oneOf|allOf|\$ref)"/);
    expect(inputSchema['additionalProperties']).toBe(false);
    expect(schema).not.toMatch(/"(namespace|caller|acting_session_id)"/);
  });

  test('a file has the name of its tool, and its group is its folder', () => {
    for (const tool of TOOLS) {
      const files = readdirSync(new URL(`./${tool.group}/`, import.meta.url));
      expect(files).toContain(`${tool.name.replaceAll('_', '-')}.ts`);
    }
  });

  test('Z-086 Z-087 start_session warns of retries and of derived keys', () => {
    const text = TOOLS.find((t) => t.name === 'start_session')?.describe('whole').description ?? '';
    expect(text).toMatch(/search by title/);
    expect(text).toMatch(/fresh random UUID/);
    expect(text).toMatch(/Never derive the key from the task, an issue number or the date/);
  });
});
