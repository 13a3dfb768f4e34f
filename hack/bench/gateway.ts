import {fork} from 'node:child_process';
import {once} from 'node:events';
import {Agent, request} from 'node:http';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {z} from 'zod';

/** Requests in flight; enough to keep one core busy, few enough to queue nowhere. */
const IN_FLIGHT = 16;
/** Calls of one sample, and those before it that nobody counts. */
const CALLS = 4_000;
const WARM_UP = 1_500;
/** Ten seconds of 500 calls each. */
const OPEN_CALLS = 5_000;
const OPEN_EVERY_MS = 2;

const Hello = z.object({gateway: z.string(), bare: z.string(), token: z.string(), key: z.string()});
const Usage = z.object({cpuSeconds: z.number()});

/** Calls that one second of one core carries: CPU time of the server's process, so that a busy machine changes little. */
export interface GatewayRates {
  /** `tools/call get_session` by a session, on `/mcp`. */
  session: number;
  /** The same by an API key, with its access reviews. */
  key: number;
  /** `GET /api/v1/sessions/{name}` by an API key. */
  rest: number;
  /** A JSON body in, one of the same size out, by node:http alone. */
  bare: number;
  /** Milliseconds within which 99 of 100 calls of a session are answered at 500 calls a second, and those of the bare server. */
  p99: {session: number; bare: number};
}

/** Measures read calls of a gateway that has its caches full, and a bare server in the same process. */
export async function measureGateway(): Promise<GatewayRates> {
  const child = fork(join(import.meta.dirname, 'gateway-process.ts'), {execArgv: profiling()});
  try {
    const [said] = await once(child, 'message');
    const {gateway, bare, token, key} = Hello.parse(said);
    const cpu = async () => {
      child.send('usage');
      const [usage] = await once(child, 'message');
      return Usage.parse(usage).cpuSeconds;
    };
    const call = (session_id: string) =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {name: 'get_session', arguments: {session_id}},
      });
    const rate = async (ask: Ask) => {
      await load(ask, WARM_UP);
      const before = await cpu();
      await load(ask, CALLS);
      return Math.round(CALLS / ((await cpu()) - before));
    };
    const keyed = {'x-api-key': key};
    const bareCall = {url: bare, method: 'POST', headers: {}, body: call('one')};
    const sessionCall = {...bareCall, url: `${gateway}/mcp`, headers: {authorization: `Bearer ${token}`}};
    return {
      bare: await rate(bareCall),
      session: await rate(sessionCall),
      p99: {bare: await p99At(bareCall), session: await p99At(sessionCall)},
      key: await rate({url: `${gateway}/mcp`, method: 'POST', headers: keyed, body: call('one')}),
      rest: await rate({url: `${gateway}/api/v1/sessions/one`, method: 'GET', headers: keyed}),
    };
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

interface Ask {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** So many requests, over connections that are kept. */
async function load(ask: Ask, calls: number): Promise<void> {
  const agent = new Agent({keepAlive: true, maxSockets: IN_FLIGHT});
  let left = calls;
  const worker = async () => {
    while (left-- > 0) await send(ask, agent);
  };
  await Promise.all(Array.from({length: IN_FLIGHT}, worker));
  agent.destroy();
}

/** Open loop: a call is due each 2 ms whatever became of those before it, and late is what counts from that moment on. */
async function p99At(ask: Ask): Promise<number> {
  const agent = new Agent({keepAlive: true, maxSockets: 256});
  const start = performance.now();
  const took: Promise<number>[] = [];
  for (let n = 0; n < OPEN_CALLS; n++) {
    const due = start + n * OPEN_EVERY_MS;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    took.push(send(ask, agent).then(() => performance.now() - due));
  }
  const sorted = (await Promise.all(took)).sort((a, b) => a - b);
  agent.destroy();
  return Math.round((sorted[Math.floor(sorted.length * 0.99)] ?? 0) * 10) / 10;
}

function send({url, method, headers, body}: Ask, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : {'content-type': 'application/json'};
    const asked = request(url, {method, agent, headers: {...type, ...headers}}, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`));
      });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

/** `CARREL_BENCH_PROFILE=folder` writes a CPU profile there. */
function profiling(): string[] {
  const folder = process.env['CARREL_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
