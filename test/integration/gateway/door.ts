import {type IncomingHttpHeaders, request} from 'node:http';
import {z} from 'zod';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {Pods} from '../../../src/kube/builtin.ts';
import {type Place, type Release, until} from '../../support/release.ts';

/** One replica of the gateway, reached by the address of its pod, past the Service. */
export interface Door {
  pod: string;
  url: string;
}

/** What came back. `json` is undefined where the body is none. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: unknown;
}

/** What is read of the answer to `tools/call`. */
const ToolReply = z.object({
  result: z.object({isError: z.boolean().default(false), content: z.array(z.object({text: z.string()}))}).optional(),
  error: z.object({code: z.number(), message: z.string()}).optional(),
});

/** What is read of the answer to `tools/list`. */
const ListReply = z.object({result: z.object({tools: z.array(z.object({name: z.string(), description: z.string()}))})});

/** The two replicas that serve now; waits until there are two. */
export function openDoors({client}: Release): Promise<[Door, Door]> {
  return until(180_000, async () => {
    const {items} = await client.list(Pods, {
      namespace: RELEASE_NAMESPACE,
      labelSelector: 'app.kubernetes.io/component=gateway',
    });
    const ready = items.filter(
      (p) =>
        p.metadata.deletionTimestamp === undefined &&
        p.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'),
    );
    const [a, b] = ready.map((p) => ({pod: p.metadata.name, url: `http://${p.status?.podIP}:8080`}));
    if (a === undefined || b === undefined) throw new Error(`only ${ready.length} gateways are ready`);
    return [a, b];
  });
}

/** Sends one request with exactly these headers, Host too, and nothing of its own but the length. */
export function send(
  url: string,
  {
    method = 'POST',
    headers = {},
    body,
  }: {method?: string; headers?: Record<string, string | string[]>; body?: unknown} = {},
): Promise<Reply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = text === undefined ? {} : {'content-type': 'application/json'};
  return new Promise((resolve, reject) => {
    const asked = request(url, {method, headers: {...type, ...headers}, agent: false, timeout: 90_000}, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const said = Buffer.concat(chunks).toString();
        resolve({status: response.statusCode ?? 0, headers: response.headers, text: said, json: parse(said)});
      });
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer of ${url} within 90 s`)));
    asked.once('error', reject);
    asked.end(text);
  });
}

/** A JSON-RPC request. */
export function rpc(method: string, params: object = {}, id = 1): object {
  return {jsonrpc: '2.0', id, method, params};
}

/** Whoever calls with one credential, at whichever door. */
export class Client {
  readonly headers: Record<string, string>;
  readonly path: string;

  constructor(headers: Record<string, string>, path = '/mcp') {
    this.headers = headers;
    this.path = path;
  }

  rpc(door: Door, method: string, params: object = {}): Promise<Reply> {
    return send(`${door.url}${this.path}`, {headers: this.headers, body: rpc(method, params)});
  }

  /** Names of the tools that it sees, in order. */
  async tools(door: Door): Promise<string[]> {
    const reply = await this.rpc(door, 'tools/list');
    return ListReply.parse(reply.json)
      .result.tools.map((t) => t.name)
      .sort();
  }

  async describe(door: Door, tool: string): Promise<string> {
    const reply = await this.rpc(door, 'tools/list');
    return ListReply.parse(reply.json).result.tools.find((t) => t.name === tool)?.description ?? '';
  }

  /** Calls a tool; the text starts with `error: ` when the tool said no, with `rpc: ` for a protocol error. */
  async call(door: Door, name: string, args: object = {}): Promise<string> {
    const reply = await this.rpc(door, 'tools/call', {name, arguments: args});
    const said = ToolReply.safeParse(reply.json);
    if (!said.success) throw new Error(`${name}: ${reply.status} ${reply.text}`);
    const {error, result} = said.data;
    if (error !== undefined) return `rpc: ${error.code} ${error.message}`;
    const text = (result?.content ?? []).map((c) => c.text).join('\n');
    return result?.isError ? `error: ${text}` : text;
  }

  /** Acts on a session. */
  act(door: Door, action: string, session_id: string, more: object = {}): Promise<string> {
    return this.call(door, 'action_session', {action, session_id, ...more});
  }

  rest(door: Door, method: string, path: string, body?: unknown): Promise<Reply> {
    return send(`${door.url}/api/v1${path}`, {method, headers: this.headers, ...(body === undefined ? {} : {body})});
  }
}

/** The value behind `- Name: ` in the text of a tool. */
export function field(text: string, name: string): string {
  return new RegExp(`^- ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
}

/** Rights of a Role on our kinds: verb -> resources. */
export type Rights = readonly (readonly [verbs: readonly string[], resources: readonly string[]])[];

/** All that the tools ask for. */
export const EVERYTHING: Rights = [
  [
    ['get', 'list', 'create', 'patch'],
    ['sessions', 'turns'],
  ],
  [['get'], ['sessions/transcript']],
];

/** Makes a service account with a Role of these rights in the namespace of the test. */
export async function makeAccount(place: Place, name: string, rights: Rights): Promise<void> {
  const rules = rights.map(([verbs, resources]) => ({apiGroups: ['carrel.dev'], resources, verbs}));
  const subjects = [{kind: 'ServiceAccount', name, namespace: place.namespace}];
  const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name};
  const rbac = 'rbac.authorization.k8s.io/v1';
  const items = [
    {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name}},
    {apiVersion: rbac, kind: 'Role', metadata: {name}, rules},
    {apiVersion: rbac, kind: 'RoleBinding', metadata: {name}, roleRef, subjects},
  ];
  await place.kubectl(['create', '-f', '-'], JSON.stringify({apiVersion: 'v1', kind: 'List', items}));
}

/** A token of a service account; people's audience unless another is named, none at all with `''`. */
export async function tokenOf(place: Place, account: string, audience = 'carrel'): Promise<string> {
  const wanted = audience === '' ? [] : ['--audience', audience];
  return (await place.kubectl(['create', 'token', account, ...wanted, '--duration', '1h'])).trim();
}

/** A client with a token of this service account. */
export async function clientOf(place: Place, account: string, path?: string): Promise<Client> {
  return new Client({authorization: `Bearer ${await tokenOf(place, account)}`}, path);
}

/** Waits until these gateways have seen an Agent: a start that they refuse for another reason tells. */
export async function untilAgent(client: Client, doors: readonly Door[], agent: string): Promise<void> {
  for (const door of doors) {
    await until(60_000, async () => {
      const said = await client.call(door, 'start_session', {agent_root: agent, model: 'no-such-model'});
      if (!said.includes('is not allowed by Agent')) throw new Error(`${door.pod}: ${said}`);
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
