import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {afterEach, beforeEach, expect, it} from 'vitest';
import {createArchiveClient} from '../../src/archive-client/index.ts';
import {listen} from '../../src/http/listen.ts';
import {batchOf} from '../support/transcript-store-contract.ts';

const CALLER = 'system:serviceaccount:carrel:carrel-gateway';
const folder = mkdtempSync(join(tmpdir(), 'carrel-archive-process-'));
let api: Server;
let process_: ChildProcess | undefined;

beforeEach(async () => {
  // Answers every TokenReview with yes.
  api = createServer((request, response) => {
    request.resume();
    const status = {authenticated: true, user: {username: CALLER}, audiences: ['carrel-archive']};
    response.end(JSON.stringify({kind: 'TokenReview', status}));
  });
  const server = `http://127.0.0.1:${await listen(api, 0, '127.0.0.1')}`;
  const config = {
    'current-context': 'c',
    contexts: [{name: 'c', context: {cluster: 'c', user: 'u'}}],
    clusters: [{name: 'c', cluster: {server}}],
    users: [{name: 'u', user: {token: 't'}}],
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config));
});
afterEach(() => {
  process_?.kill('SIGKILL');
  api.close();
  rmSync(folder, {recursive: true, force: true});
});

async function start(): Promise<{port: number; healthPort: number}> {
  const env = {
    PATH: process.env['PATH'],
    CARREL_KUBECONFIG: join(folder, 'kubeconfig'),
    CARREL_ARCHIVE_DATA: join(folder, 'data'),
    CARREL_ARCHIVE_CALLERS: CALLER,
    CARREL_ARCHIVE_PORT: '0',
    CARREL_HEALTH_PORT: '0',
  };
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/bin/archive.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process_ = child;
  for await (const line of createInterface({input: child.stdout})) {
    const {msg, port, healthPort} = JSON.parse(line);
    if (msg === 'archive is listening') return {port, healthPort};
  }
  throw new Error('the archive ended');
}

it('the archive process keeps what it acknowledged through kill -9, says that it is ready, and ends on TERM', async () => {
  const first = await start();
  const client = createArchiveClient({url: `http://127.0.0.1:${first.port}`, token: () => 'token'});
  expect(await client.append(batchOf(1, ['a', 'b']))).toEqual({acked: 2});
  process_?.kill('SIGKILL');
  await once(process_ ?? api, 'exit');
  client.close();

  const second = await start();
  const again = createArchiveClient({url: `http://127.0.0.1:${second.port}`, token: () => 'token'});
  expect(await again.append(batchOf(1, ['a', 'b', 'c']))).toEqual({acked: 3});
  const {records} = await again.read({namespace: 'team-a', sessionUid: 'uid-1', after: 0, limit: 10});
  expect(records.map((r) => r.text)).toEqual(['a', 'b', 'c']);
  again.close();
  expect((await fetch(`http://127.0.0.1:${second.healthPort}/readyz`)).status).toBe(200);
  expect(await (await fetch(`http://127.0.0.1:${second.healthPort}/metrics`)).text()).toContain(
    'carrel_archive_records_total 1',
  );
  process_?.kill('SIGTERM');
  expect(await once(process_ ?? api, 'exit')).toEqual([0, null]);
});
