/** The smallest agent that speaks ACP: raw JSON lines, no library. First argument: how it misbehaves at its start. */
import {spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline';

type Message = {id?: number; method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown};

const mode = process.argv[2] ?? 'normal';
const memoryFile = path.join(process.env['HOME'] ?? '.', 'memory.json');
let session = '';
let finishTurn: ((stopReason: string) => void) | undefined;
const replies = new Map<number, (result: unknown) => void>();
let nextId = 1000;

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
}

function say(text: string, messageId = 'm1'): void {
  const update = {sessionUpdate: 'agent_message_chunk', messageId, content: {type: 'text', text}};
  send({method: 'session/update', params: {sessionId: session, update}});
}

function ask(method: string, params: object): Promise<unknown> {
  nextId += 1;
  const id = nextId;
  send({id, method, params});
  return new Promise((resolve) => replies.set(id, resolve));
}

function memory(): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(memoryFile, 'utf8'));
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}

const commands: Record<string, (rest: string) => Promise<string> | string> = {
  say: (rest) => {
    for (const word of rest.split(/(?<= )/)) say(word);
    return 'end_turn';
  },
  prompt: () => 'end_turn',
  remember: (rest) => {
    writeFileSync(memoryFile, JSON.stringify([...memory(), rest]));
    say('noted');
    return 'end_turn';
  },
  recall: () => {
    say(memory().join(', ') || 'nothing');
    return 'end_turn';
  },
  environment: () => {
    say(JSON.stringify({names: Object.keys(process.env).sort(), cwd: process.cwd(), home: process.env['HOME']}));
    return 'end_turn';
  },
  read: (rest) => {
    say(readFileSync(path.join(process.env['HOME'] ?? '', rest), 'utf8'));
    return 'end_turn';
  },
  permission: async () => {
    const reply = await ask('session/request_permission', {
      sessionId: session,
      toolCall: {toolCallId: 't1', title: 'rm -rf /workspace', rawInput: {command: 'rm'}},
      options: [
        {optionId: 'yes', name: 'Allow', kind: 'allow_once'},
        {optionId: 'no', name: 'Reject', kind: 'reject_once'},
      ],
    });
    say(`answer ${JSON.stringify(reply)}`);
    return 'end_turn';
  },
  form: async () => {
    const requestedSchema = {type: 'object', properties: {color: {type: 'string'}}};
    const reply = await ask('elicitation/create', {
      sessionId: session,
      mode: 'form',
      message: 'color?',
      requestedSchema,
    });
    say(`answer ${JSON.stringify(reply)}`);
    return 'end_turn';
  },
  wait: () =>
    new Promise((resolve) => {
      say('waiting');
      finishTurn = resolve;
    }),
  stuck: () => {
    say('stuck');
    return new Promise(() => {});
  },
  crash: () => {
    say('about to crash');
    process.stderr.write('fatal: out of ideas\n');
    process.stdout.write('', () => process.exit(9));
    return new Promise(() => {});
  },
  child: () => {
    const child = spawn('tail', ['-f', '/dev/null'], {stdio: 'ignore'});
    say(`child ${child.pid}`);
    return 'end_turn';
  },
  empty: () => 'end_turn',
  refuse: () => 'refusal',
  flood: (rest) => {
    for (let n = 0; n < Number(rest); n += 1) say('x'.repeat(1000));
    return 'end_turn';
  },
};

/** Lists the tools of the first server: without that, the runner waits for it at each start. */
async function listTools(params: Message['params']): Promise<void> {
  const servers: unknown = params?.['mcpServers'];
  const [server]: {url: string; headers: {name: string; value: string}[]}[] = Array.isArray(servers) ? servers : [];
  if (server === undefined) return;
  const headers = Object.fromEntries(server.headers.map(({name, value}) => [name, value]));
  const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/list', params: {}});
  await fetch(server.url, {method: 'POST', headers: {...headers, 'content-type': 'application/json'}, body});
}

async function answer({id, method, params}: Message): Promise<void> {
  switch (method) {
    case 'initialize':
      return send({
        id,
        result: {
          protocolVersion: 1,
          agentInfo: {name: 'small-agent', version: '1'},
          agentCapabilities: {loadSession: true, mcpCapabilities: {http: true}, sessionCapabilities: {resume: {}}},
          authMethods: [],
        },
      });
    case 'session/new':
      session = `small-${process.pid}`;
      if (mode === 'login') return send({id, error: {code: -32_000, message: 'log in first'}});
      await listTools(params);
      return send({id, result: {sessionId: session}});
    case 'session/resume':
      session = String(params?.['sessionId']);
      if (mode === 'forgetful') return send({id, error: {code: -32_603, message: 'no such session'}});
      await listTools(params);
      return send({id, result: {}});
    case 'session/load':
      return send({id, error: {code: -32_002, message: 'no such session'}});
    case 'session/prompt': {
      const blocks: unknown = params?.['prompt'];
      const texts = Array.isArray(blocks) ? blocks.map((block: {text: string}) => block.text) : [];
      const [command = '', ...rest] = (texts.at(-1) ?? '').split(' ');
      if (command === 'blocks') say(texts.join(' | '));
      const stopReason = (await commands[command]?.(rest.join(' '))) ?? 'end_turn';
      return send({id, result: {stopReason}});
    }
    case 'session/cancel':
      return finishTurn?.('cancelled');
    default:
      if (id !== undefined) send({id, error: {code: -32_601, message: 'unknown method'}});
  }
}

if (mode === 'exit') {
  process.stderr.write('\u001b[31merror:\u001b[0m no model configured\n');
  process.exit(7);
}
if (mode === 'not-acp') process.stdout.write('Welcome to the shell!\n> ');
if (mode === 'not-acp' || mode === 'silent') {
  process.stdout.write('\n');
  process.stdin.resume();
} else {
  createInterface({input: process.stdin}).on('line', (line) => {
    const message: Message = JSON.parse(line);
    if (message.method === undefined && message.id !== undefined) replies.get(message.id)?.(message.result);
    else void answer(message);
  });
}
process.stdin.on('end', () => process.exit(0));
