import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {z} from 'zod';
import {openRelease, Place} from '../../support/release.ts';
import {attack} from './attack.ts';
import {
  agentIn,
  type Cell,
  enterCell,
  expectNoChange,
  expectNoLookInside,
  expectNoSecretFound,
  expectNoTrace,
  makeCell,
  PROVIDER_KEY,
} from './cell.ts';

const Replies = z.array(z.object({status: z.number(), body: z.string()}));

describe("what the agent's user finds inside the agent's container", () => {
  let place: Place;
  let cell: Cell;
  let pod: string;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'isolation');
    await makeCell(place);
    cell = await enterCell(place);
    ({pod} = cell);
  });
  afterAll(async () => {
    await place.remove();
  });

  it('no file, environment or entry of /proc and /sys holds a key or a token', async () => {
    await expectNoSecretFound(cell);
  });

  it('it sees shim and init, not the runner, and can look into neither', () => {
    expectNoLookInside(cell);
  });

  it('it may trace its own children, and neither shim nor init', async () => {
    await expectNoTrace(cell);
  });

  it("the socket's folder, the runtime and the root are not for writing, and the binaries not for reading", () => {
    expectNoChange(cell);
  });

  it('a second client of the socket is closed unread, and the agent goes on', async () => {
    expect(cell.seen.stranger).toBe('closed after 0 bytes');
    await place.turn('after', 'cell', 'say still here');
    expect((await place.untilTurn('cell', 2)).status).toMatchObject({phase: 'Completed'});
  });

  it('the agent process gets neither what Kubernetes injects nor our loader settings', () => {
    const names = agentIn(cell).environment.map((line) => line.split('=')[0] ?? '');
    expect(names.filter((name) => name.startsWith('KUBERNETES_'))).toEqual([]);
    expect(names.filter((name) => ['NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH'].includes(name))).toEqual([]);
    expect(names).toContain('CARREL_MCP_TOKEN');
  });

  it('the loopback endpoints refuse a request without the key, with another, with a Host or an Origin', async () => {
    const mcp = {url: 'http://127.0.0.1:9100/mcp', method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'};
    const json = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
    const right = {...json, authorization: 'Bearer $CARREL_MCP_TOKEN'};
    const model = {url: 'http://127.0.0.1:9100/model/v1/messages', method: 'POST', body: '{}'};
    const proxy = {url: 'http://127.0.0.1:9101', method: 'CONNECT', target: 'model.example:443'};
    const requests = [
      {...mcp, headers: right},
      {...mcp, headers: json},
      {...mcp, headers: {...json, authorization: 'Bearer wrong'}},
      {...mcp, headers: {...right, host: 'localhost:9100'}},
      {...mcp, headers: {...right, host: 'evil.example'}},
      {...mcp, headers: {...right, origin: 'http://127.0.0.1:9100'}},
      {...mcp, headers: {...right, origin: 'null'}},
      {...mcp, headers: {...right, 'x-api-key': '$CARREL_MCP_TOKEN'}},
      {...mcp, target: 'http://10.0.0.1/mcp', headers: right},
      {...model, headers: json},
      {...model, headers: {...json, 'x-api-key': PROVIDER_KEY}},
      ...[
        '/model/v1/files',
        '/model/v1/messages/../files',
        '/model//evil.example/v1/messages',
        '/model/v1/messages?beta=x',
      ].map((target) => ({...model, target, headers: {...json, 'x-api-key': '$CARREL_MODEL_KEY'}})),
      {...proxy},
      {...proxy, headers: {'proxy-authorization': 'Basic Y2FycmVsOndyb25n'}},
    ];
    const replies = await attack({place, pod}, 'requests', {
      input: {agent: agentIn(cell).pid, requests},
      result: Replies,
    });
    expect(replies.map((reply) => reply.status)).toEqual([
      200, 401, 401, 421, 421, 403, 403, 401, 400, 401, 401, 404, 404, 404, 404, 407, 407,
    ]);
  });

  it('names are answered at once with: there is none', async () => {
    const names = ['example.com', 'kubernetes.default.svc.cluster.local', 'carrel-gateway.carrel-system.svc'];
    const Answers = z.array(z.object({name: z.string(), asked: z.string(), direct: z.string()}));
    const answers = await attack({place, pod}, 'names', {input: {names}, result: Answers});
    expect(answers).toEqual(names.map((name) => ({name, asked: 'ENOTFOUND', direct: 'ENOTFOUND'})));
  });

  it('the runner opens nothing in the memory that it shares with the agent', async () => {
    await place.kubectl(['exec', pod, '-c', 'agent', '--', '/bin/busybox', 'touch', '/dev/shm/bait']);
    const line = `const fs = require('node:fs');
      const argv = (pid) => { try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0'); } catch { return []; } };
      const isRunner = ([program, ...args]) => program === '/carrel/bin/node' && args.includes('/carrel/app/runner.js');
      const fds = '/proc/' + fs.readdirSync('/proc').find((pid) => isRunner(argv(pid))) + '/fd/';
      const open = fs.readdirSync(fds).map((fd) => { try { return fs.readlinkSync(fds + fd); } catch { return ''; } });
      process.stdout.write(JSON.stringify({shared: fs.existsSync('/dev/shm/bait'), open}));`;
    const said = await place.kubectl(['exec', pod, '-c', 'runner', '--', '/carrel/bin/node', '-e', line]);
    const {shared, open} = z.object({shared: z.boolean(), open: z.array(z.string())}).parse(JSON.parse(said));
    expect(shared).toBe(true);
    expect(open.length).toBeGreaterThan(3);
    expect(open.filter((path) => path.startsWith('/dev/shm') || path.includes('mqueue'))).toEqual([]);
    // Nor is it named anywhere in what the runner is made of.
    const find = `const fs = require('node:fs'); const app = '/carrel/app/';
      const texts = fs.readdirSync(app, {recursive: true}).filter((f) => f.endsWith('.js')).map((f) => [f, fs.readFileSync(app + f, 'utf8')]);
      process.stdout.write(JSON.stringify({files: texts.length, naming: texts.filter(([, t]) => t.includes('/dev/shm')).map(([f]) => f)}));`;
    const searched = await place.kubectl(['exec', pod, '-c', 'runner', '--', '/carrel/bin/node', '-e', find]);
    const {files, naming} = z.object({files: z.number(), naming: z.array(z.string())}).parse(JSON.parse(searched));
    expect(files).toBeGreaterThan(7);
    expect(naming).toEqual([]);
  });

  it('what it leaves as the last words of its container is shown nowhere', async () => {
    const lie = 'lie-5d8e1f: the platform says that all is well';
    const write = `echo '${lie}' >/dev/termination-log`;
    await place.kubectl(['exec', pod, '-c', 'agent', '--', '/bin/sh', '-c', write]);
    await place.kubectl([
      'patch',
      'sessions.carrel.dev',
      'cell',
      '--type=merge',
      '-p',
      '{"spec":{"desired":"Closed"}}',
    ]);
    await place.untilSession('cell', (s) => s.status?.phase === 'Closed');
    const all = await place.kubectl(['get', 'sessions.carrel.dev,turns.carrel.dev,events', '-o', 'yaml']);
    expect(all).not.toContain('lie-5d8e1f');
  });
});
