import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {z} from 'zod';
import {openRelease, Place} from '../../support/release.ts';
import {attack, bringProgram, makeSecret, podOf} from './attack.ts';

/** Values that are nowhere else: where one is found, a secret was seen. */
const PROVIDER_KEY = 'sk-canary-6b1f0c9d7e3a4258-provider';
const UNRELATED = 'canary-2f7d81c4a9e0-unrelated';
const GIVEN = 'canary-93ab5c6d1e2f-given';

const Files = z.object({
  read: z.number(),
  bytes: z.number(),
  refused: z.number(),
  found: z.array(z.object({path: z.string(), what: z.string()})),
  paths: z.array(z.string()),
});
const Processes = z.object({
  uid: z.number(),
  stranger: z.string(),
  writes: z.record(z.string(), z.string()),
  processes: z.array(
    z.object({
      pid: z.number(),
      command: z.string(),
      uid: z.string(),
      environ: z.string(),
      memory: z.string(),
      maps: z.string(),
      files: z.string(),
      root: z.string(),
      environment: z.array(z.string()),
    }),
  ),
});
const Replies = z.array(z.object({status: z.number(), body: z.string()}));

describe("what the agent's user finds inside the agent's container", () => {
  let place: Place;
  let pod: string;
  let seen: z.infer<typeof Processes>;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'isolation');
    await makeSecret(place, 'provider', {token: PROVIDER_KEY, origin: 'https://model.example'});
    await makeSecret(place, 'unrelated', {value: UNRELATED});
    await makeSecret(place, 'given', {value: GIVEN});
    await place.agent('prisoner', {
      workspace: {size: '64Mi'},
      env: [{name: 'GIVEN', secret: {name: 'given', key: 'value'}}],
      model: {
        name: 'm',
        dialect: 'AnthropicMessages',
        baseUrl: 'https://model.example',
        key: {secret: 'provider', key: 'token'},
      },
    });
    await place.session('cell', {agent: 'prisoner', prompt: 'env'});
    await place.untilTurn('cell', 1);
    pod = await podOf(place, 'cell');
    seen = await attack({place, pod}, 'processes', {result: Processes});
  });
  afterAll(async () => {
    await place.remove();
  });

  /** The process of the agent itself, which has the environment that the runner gave. */
  function agent() {
    const found = seen.processes.find((one) => one.command.includes('scripted-agent.js'));
    if (found === undefined) throw new Error(`no agent among ${JSON.stringify(seen.processes)}`);
    return found;
  }

  it('no file, environment or entry of /proc holds a key or a token', async () => {
    const tokens = await Promise.all(
      ['mcp', 'runner', 'egress'].map((name) => {
        const line = `process.stdout.write(require('node:fs').readFileSync('/var/run/secrets/carrel/${name}', 'utf8'))`;
        return place.kubectl(['exec', pod, '-c', 'runner', '--', '/carrel/bin/node', '-e', line]);
      }),
    );
    expect(tokens.every((token) => token.startsWith('eyJ'))).toBe(true);
    const signatures = tokens.map((token) => token.split('.')[2] ?? '');
    const needles = [GIVEN, PROVIDER_KEY, UNRELATED, ...signatures];
    const files = await attack({place, pod}, 'files', {input: {needles}, result: Files});
    // What the Agent gives is found where it is given, so the search works; nothing else is found anywhere.
    const given = files.found.filter((one) => one.what === 'needle 0');
    expect(given.map((one) => one.path)).toContain(`/proc/${agent().pid}/environ`);
    expect(files.found.filter((one) => one.what !== 'needle 0')).toEqual([]);
    expect(files.read).toBeGreaterThan(100);
    expect(files.paths.filter((path) => /secrets|serviceaccount|token/.test(path))).toEqual([]);
    expect(files.paths.filter((path) => path.startsWith('/run/'))).toEqual(['/run/carrel', '/run/carrel/shim.sock']);
  });

  it('it sees shim and init, not the runner, and can look into neither', () => {
    const uids = new Set(seen.processes.map((one) => one.uid));
    expect([...uids]).toEqual([String(seen.uid)]);
    expect(seen.processes.filter((one) => one.command.includes('runner.js'))).toEqual([]);
    const platform = seen.processes.filter((one) => one.command.startsWith('/carrel/bin/'));
    expect(platform.map((one) => one.command).sort()).toEqual([
      '/carrel/bin/node /carrel/app/shim.js',
      '/carrel/bin/tini -- /carrel/bin/node /carrel/app/shim.js',
    ]);
    for (const {command, environ, memory, maps, files, root} of platform) {
      const codes = {environ, memory, maps, files, root};
      expect({command, ...codes}).toEqual({
        command,
        environ: 'EACCES',
        memory: 'EACCES',
        maps: 'EACCES',
        files: 'EACCES',
        root: 'EACCES',
      });
    }
  });

  it('it may trace its own children, and neither shim nor init', async () => {
    const program = await bringProgram({place, pod});
    const pids = seen.processes.filter((one) => one.command.startsWith('/carrel/bin/')).map((one) => String(one.pid));
    const said = await place.kubectl(['exec', pod, '-c', 'agent', '--', program, 'trace', ...pids]);
    const refused = pids.map((pid) => `${pid}: operation not permitted`);
    expect(said.trim().split('\n')).toEqual(['child: attached', ...refused]);
  });

  it("the socket's folder, the runtime and the root are not for writing, and the binaries not for reading", () => {
    expect(seen.writes).toEqual({
      newFile: 'EROFS',
      removeSocket: 'EROFS',
      openSocket: 'EROFS',
      runtime: expect.stringMatching(/EROFS|EACCES/),
      runtimeBinary: 'EACCES',
      runtimeInit: 'EACCES',
      root: 'EROFS',
    });
  });

  it('a second client of the socket is closed unread, and the agent goes on', async () => {
    expect(seen.stranger).toBe('closed after 0 bytes');
    await place.turn('after', 'cell', 'say still here');
    expect((await place.untilTurn('cell', 2)).status).toMatchObject({phase: 'Completed'});
  });

  it('the agent process gets neither what Kubernetes injects nor our loader settings', () => {
    const names = agent().environment.map((line) => line.split('=')[0] ?? '');
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
    const replies = await attack({place, pod}, 'requests', {input: {agent: agent().pid, requests}, result: Replies});
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
      const open = fs.readdirSync('/proc/1/fd').map((fd) => { try { return fs.readlinkSync('/proc/1/fd/' + fd); } catch { return ''; } });
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
