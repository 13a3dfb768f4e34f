// Sends HTTP requests exactly as given, CONNECT included, and says what came back. Runs inside a container.
import {readFileSync} from 'node:fs';
import {request} from 'node:http';

type Sent = {
  url: string;
  method?: string;
  /** `$NAME` in a value stands for a variable of the agent process, `@path` for the content of a file. */
  headers?: Record<string, string>;
  body?: string;
  /** The target of a CONNECT. */
  target?: string;
};
const input: {agent?: number; requests: Sent[]} = JSON.parse(
  Buffer.from(process.argv[2] ?? '', 'base64').toString('utf8'),
);
const TIMEOUT = 20_000;

/** Environment of the agent process: an exec gets that of the container only. */
const environment = new Map(
  (input.agent === undefined ? '' : readFileSync(`/proc/${input.agent}/environ`, 'utf8'))
    .split('\0')
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);

function filled(value: string): string {
  return value
    .replaceAll(/\$BASIC_CARREL_MCP_TOKEN/g, () =>
      Buffer.from(`carrel:${environment.get('CARREL_MCP_TOKEN')}`).toString('base64'),
    )
    .replaceAll(/\$([A-Z_]+)/g, (_, name: string) => environment.get(name) ?? '')
    .replaceAll(/@(\/\S+)/g, (_, path: string) => readFileSync(path, 'utf8').trim());
}

function send({url, method = 'GET', headers = {}, body, target}: Sent): Promise<{status: number; body: string}> {
  return new Promise((resolve) => {
    const to = new URL(url);
    const sent = request({
      host: to.hostname,
      port: to.port,
      method,
      path: target ?? to.pathname + to.search,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
      agent: false,
      setHost: headers['host'] === undefined,
    });
    const failed = (error: Error) => resolve({status: 0, body: error.message});
    sent.setTimeout(TIMEOUT, () => sent.destroy(new Error('no answer in time')));
    sent.on('error', failed);
    sent.on('connect', (response, socket, head) => {
      let text = head.toString('utf8');
      const end = () => resolve({status: response.statusCode ?? 0, body: text});
      if (response.statusCode === 200) {
        socket.destroy();
        return end();
      }
      socket.on('data', (data) => {
        text += data.toString('utf8');
      });
      socket.on('error', end);
      socket.on('close', end);
    });
    sent.on('response', (response) => {
      let text = '';
      // A stream that goes on is a yes; what it says matters little.
      const enough = setTimeout(() => response.destroy(), 3_000);
      response.on('data', (data: Buffer) => {
        text += data.toString('utf8');
      });
      response.on('error', () => {});
      response.on('close', () => {
        clearTimeout(enough);
        resolve({status: response.statusCode ?? 0, body: text.slice(0, 2_000)});
      });
    });
    sent.end(body);
  });
}

const replies: {status: number; body: string}[] = [];
for (const one of input.requests) replies.push(await send(one));
process.stdout.write(JSON.stringify(replies));
process.exit(0);
