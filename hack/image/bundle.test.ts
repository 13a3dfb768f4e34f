import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {bundle} from './bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-bundle-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

/** Bundles this source and returns what it prints. */
async function printed(source: string): Promise<string> {
  const file = join(folder, 'main.ts');
  writeFileSync(file, source);
  const out = join(folder, 'out');
  await bundle({main: file}, out);
  writeFileSync(join(out, 'package.json'), '{"type": "module"}');
  return execFileSync(process.execPath, [join(out, 'main.js')], {encoding: 'utf8'}).trim();
}

const LOADED = "process.moduleLoadList.some((name) => name.includes('undici'))";

it('a program that serves HTTP loads no HTTP client that it does not use', async () => {
  const source = `
import http, {createServer} from 'node:http';
const server = createServer((_request, response) => response.end());
server.listen(0, '127.0.0.1', () => {
  console.log(server instanceof http.Server, ${LOADED});
  server.close();
});`;
  expect(await printed(source)).toBe('true false');
});

it('a program that uses fetch has it', async () => {
  expect(await printed(`import 'node:http'; new Headers(); console.log(${LOADED});`)).toBe('true');
});
