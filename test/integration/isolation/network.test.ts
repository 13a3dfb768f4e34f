import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {z} from 'zod';
import {AUDIENCE, LABEL_AGENT, LABEL_AGENT_UID, LABEL_SESSION, LABEL_SESSION_UID} from '../../../src/api/meta.ts';
import {PURPOSE_HEADER} from '../../../src/api/wire/egress.ts';
import {LONG, openRelease, Place, until} from '../../support/release.ts';
import {agentPid, attack, bringProgram, nodePod, podOf} from './attack.ts';

const Scan = z.object({
  tcp: z.array(z.string()),
  udp: z.array(z.string()),
  bound: z.object({tcp: z.array(z.string()), udp: z.array(z.string()), abstract: z.array(z.string())}),
});
const Replies = z.array(z.object({status: z.number(), body: z.string()}));
const RELEASE = 'carrel-system';
/** Where nobody but the cluster's own parts listens, and where every cloud keeps its credentials. */
const METADATA = '169.254.169.254';
const COMMON = [22, 53, 80, 111, 179, 443, 2379, 2380, 4194, 5000, 6443, 8080, 8081, 8082, 8443, 9090, 9153];
const NODE_PORTS = [10248, 10249, 10250, 10255, 10256, 10257, 10259];
const ECHO = `require('node:net').createServer((s) => s.on('error', () => {}).pipe(s)).listen(7000);
  const u = require('node:dgram').createSocket('udp4'); u.on('message', (m, r) => u.send(m, r.port, r.address)); u.bind(7001);`;

describe('where the agent can connect to', () => {
  let place: Place;
  let pod: string;
  let program: string;
  let at: {
    gateway: string;
    egress: string;
    gatewayPod: string;
    egressPod: string;
    api: string;
    dns: string;
    echo: string;
    nodes: string[];
  };
  let free: z.infer<typeof Scan>;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'network');
    await place.agent('prisoner', {workspace: {size: '64Mi'}});
    await place.session('cell', {agent: 'prisoner', prompt: 'say ready'});
    await place.kubectl(['create', '-f', '-'], JSON.stringify(nodePod(place, 'echo', ECHO)));
    await place.kubectl(['wait', '--for=condition=Ready', 'pod/echo', '--timeout=120s']);
    await place.untilTurn('cell', 1);
    pod = await podOf(place, 'cell');
    program = await bringProgram({place, pod});
    at = await addresses();
    // From a pod without a policy everything that is tried below answers: what the agent cannot reach is there.
    free = await attack({place, pod: 'echo'}, 'scan', {input: targets(), result: Scan});
  });
  afterAll(async () => {
    await place.remove();
  });

  async function addresses() {
    const {cluster, kubectl} = place.release;
    const service = async (namespace: string, name: string) =>
      await kubectl(['-n', namespace, 'get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}']);
    const podAt = async (process: string) =>
      await kubectl([
        '-n',
        RELEASE,
        'get',
        'pods',
        '-l',
        `app.kubernetes.io/component=${process}`,
        '-o',
        'jsonpath={.items[0].status.podIP}',
      ]);
    const nodes = '{.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    return {
      gateway: await service(RELEASE, 'carrel-gateway'),
      egress: await service(RELEASE, 'carrel-egress'),
      gatewayPod: await podAt('gateway'),
      egressPod: await podAt('egress'),
      api: await service('default', 'kubernetes'),
      dns: cluster.dnsAddress ?? (await service('kube-system', 'kube-dns')),
      echo: await place.kubectl(['get', 'pod', 'echo', '-o', 'jsonpath={.status.podIP}']),
      nodes: (await kubectl(['get', 'nodes', '-o', `jsonpath=${nodes}`])).split(' '),
    };
  }

  function targets() {
    const {gateway, egress, gatewayPod, egressPod, api, dns, echo, nodes} = at;
    const server = new URL(apiServer()).hostname;
    const tcp = [
      ...[gateway, egress, gatewayPod, egressPod].map((host) => ({host, ports: COMMON})),
      ...[api, dns, METADATA, server].map((host) => ({host, ports: COMMON})),
      ...nodes.map((host) => ({host, ports: [...COMMON, ...NODE_PORTS]})),
      {host: echo, ports: [7000, ...COMMON]},
    ];
    const udp = [
      {host: dns, ports: [53]},
      {host: echo, ports: [7001]},
      ...nodes.map((host) => ({host, ports: [53, 123]})),
    ];
    return {tcp, udp};
  }

  function apiServer(): string {
    const {apiServer: server} = place.release.cluster;
    return server === undefined ? `https://${at.api}` : `https://${server.address}:${server.port}`;
  }

  it('of the whole cluster the gateway and the egress relay, at one port each, and nothing else', async () => {
    const {gateway, egress, gatewayPod, egressPod, api, dns, echo, nodes} = at;
    const kubelets = nodes.map((node) => `${node}:10250`);
    expect(free.tcp).toEqual(
      expect.arrayContaining([
        `${api}:443`,
        `${echo}:7000`,
        `${gateway}:8081`,
        `${egressPod}:8081`,
        `${dns}:53`,
        ...kubelets,
      ]),
    );
    expect(free.udp).toEqual(expect.arrayContaining([`${dns}:53`, `${echo}:7001`]));
    const seen = await attack({place, pod}, 'scan', {input: targets(), result: Scan});
    const allowed = [gateway, egress, gatewayPod, egressPod].map((host) => `${host}:8080`);
    expect(seen.tcp).toEqual(allowed.sort());
    expect(seen.udp).toEqual([]);
  });

  it('on loopback two endpoints and the answerer of names, of all ports', async () => {
    const input = {tcp: [{host: '127.0.0.1', ports: COMMON}], udp: [{host: '127.0.0.1', ports: [53]}]};
    const seen = await attack({place, pod}, 'scan', {input, result: Scan});
    expect(seen.udp).toEqual(['127.0.0.1:53']);
    // As the kernel writes them: 127.0.0.1 with 53, 9100 and 9101.
    expect(seen.bound).toEqual({
      tcp: ['0100007F:0035', '0100007F:238C', '0100007F:238D'],
      udp: ['0100007F:0035'],
      abstract: [],
    });
    expect(await scan(30_000, '127.0.0.1')).toEqual(['127.0.0.1:53', '127.0.0.1:9100', '127.0.0.1:9101']);
  });

  it('no other port of gateway and relay is open to it, of all ports', async () => {
    const allowed = [at.gatewayPod, at.egressPod].map((host) => `${host}:8080`).sort();
    // Half a second is little on a busy machine: a scan that missed what is open says nothing about the rest.
    const open = await until(LONG, async () => {
      const found = await scan(500, at.gatewayPod, at.egressPod);
      expect(found).toEqual(expect.arrayContaining(allowed));
      return found;
    });
    expect(open).toEqual(allowed);
  });

  /** The TCP ports, of all there are, that let the agent in within so many milliseconds. (A closed port of loopback says so at once.) */
  async function scan(limit: number, ...hosts: string[]): Promise<string[]> {
    const words = [program, 'scan', String(limit), ...hosts];
    const said = await place.kubectl(['exec', pod, '-c', 'agent', '--', ...words]);
    const lines = said.trim().split('\n');
    expect(lines.pop()).toBe(`scanned ${65_535 * hosts.length}`);
    return lines.sort();
  }

  it('gateway and relay refuse it without a credential, with made-up ones, and with the key of its loopback', async () => {
    const gateway = `http://${at.gateway}:8080`;
    const rpc = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const json = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
    const credentials = [
      {},
      {authorization: 'Bearer $CARREL_MCP_TOKEN'},
      {authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.'},
    ];
    const requests = credentials.flatMap((credential) => [
      {url: `${gateway}/mcp`, method: 'POST', headers: {...json, ...credential}, body: rpc},
      {url: `${gateway}/runner/v1/desired`, headers: credential},
      {url: `${gateway}/runner/v1/context`, headers: credential},
      {url: `${gateway}/runner/v1/events`, method: 'POST', headers: {...json, ...credential}, body: '{}'},
      {url: `${gateway}/api/v1/sessions/cell/transcript?namespace=${place.namespace}`, headers: credential},
    ]);
    const agent = await agentPid({place, pod});
    const replies = await attack({place, pod}, 'requests', {input: {agent, requests}, result: Replies});
    expect(replies.map((reply) => reply.status)).toEqual(requests.map(() => 401));
    const relay = {url: `http://${at.egress}:8080`, method: 'CONNECT', target: 'model.example:443'};
    const purposes = ['model', 'agent'].map((purpose) => ({...relay, headers: {[PURPOSE_HEADER]: purpose}}));
    const claimed = {...relay, headers: {[PURPOSE_HEADER]: 'model', 'proxy-authorization': 'Bearer $CARREL_MCP_TOKEN'}};
    const input = {agent, requests: [...purposes, claimed]};
    const relayed = await attack({place, pod}, 'requests', {input, result: Replies});
    expect(relayed.map((reply) => reply.status)).toEqual([407, 407, 407]);
  });

  it("another pod with the session's labels and its service account gains nothing by its tokens", async () => {
    await makeForger();
    const gateway = `http://${at.gateway}:8080`;
    const json = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
    const token = (name: string) => `Bearer @/tokens/${name}`;
    const rpc = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const relay = {url: `http://${at.egress}:8080`, method: 'CONNECT', target: 'example.com:443'};
    const requests = [
      {url: `${gateway}/runner/v1/desired`, headers: {authorization: token('runner')}},
      {url: `${gateway}/runner/v1/context`, headers: {authorization: token('runner')}},
      {url: `${gateway}/mcp`, method: 'POST', headers: {...json, authorization: token('mcp')}, body: rpc},
      {...relay, headers: {[PURPOSE_HEADER]: 'agent', 'proxy-authorization': token('egress')}},
      {...relay, headers: {[PURPOSE_HEADER]: 'model', 'proxy-authorization': token('egress')}},
      // A token of one audience is none for another.
      {url: `${gateway}/runner/v1/desired`, headers: {authorization: token('mcp')}},
      {url: `${gateway}/mcp`, method: 'POST', headers: {...json, authorization: token('runner')}, body: rpc},
      {...relay, headers: {[PURPOSE_HEADER]: 'agent', 'proxy-authorization': token('runner')}},
    ];
    const replies = await attack({place, pod: 'forger'}, 'requests', {input: {requests}, result: Replies});
    expect(replies.map((reply) => reply.status)).toEqual([
      410,
      410,
      expect.toSatisfy((s) => s === 401 || s === 403),
      403,
      403,
      401,
      401,
      407,
    ]);
    expect(replies[3]?.body).toContain('not_bound');
    // The session does not take the stranger for its own, and its own pod serves on.
    await place.turn('after', 'cell', 'say still mine');
    expect((await place.untilTurn('cell', 2)).status?.response).toContain('still mine');
    expect(await podOf(place, 'cell')).toBe(pod);
  });

  it('a pod that waits under the name of the next attempt is deleted, not taken for our own', async () => {
    const next = pod.replace(/-[0-9]+$/, (end) => `-${Number(end.slice(1)) + 1}`);
    await place.kubectl(['create', '-f', '-'], JSON.stringify(nodePod(place, next, 'setInterval(() => {}, 1 << 30)')));
    const foreign = await place.kubectl(['get', 'pod', next, '-o', 'jsonpath={.metadata.uid}']);
    await place.kubectl(['patch', 'sessions.carrel.dev', 'cell', '--type=merge', '-p', '{"spec":{"restart":1}}']);
    const session = await place.untilSession('cell', (s) => s.status?.attempt === 2 && s.status.phase === 'Idle');
    expect(session.status?.pod).toMatchObject({name: next});
    expect(session.status?.pod?.uid).not.toBe(foreign);
    const reasons = ['get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].reason}'];
    await until(LONG, async () => expect(await place.kubectl(reasons)).toContain('PodForeign'));
  });

  async function makeForger(): Promise<void> {
    const session = await place.get('cell');
    const real = (await place.pods()).find((one) => one.metadata.name === pod);
    const labels = [LABEL_SESSION, LABEL_SESSION_UID, LABEL_AGENT, LABEL_AGENT_UID].map((name) => [
      name,
      real?.metadata.labels?.[name],
    ]);
    const sources = (['mcp', 'runner', 'egress'] as const).map((which) => ({
      serviceAccountToken: {audience: AUDIENCE[which], expirationSeconds: 600, path: which},
    }));
    const forger = nodePod(place, 'forger', 'setInterval(() => {}, 1 << 30)', {
      labels: {'app.kubernetes.io/managed-by': 'carrel', ...Object.fromEntries(labels)},
      mounts: [{name: 'tokens', mountPath: '/tokens'}],
      spec: {
        serviceAccountName: real?.spec?.serviceAccountName,
        securityContext: {fsGroup: 65534},
        volumes: [{name: 'tokens', projected: {sources}}],
      },
    });
    expect(session.status?.pod?.name).toBe(pod);
    await place.kubectl(['create', '-f', '-'], JSON.stringify(forger));
    await place.kubectl(['wait', '--for=condition=Ready', 'pod/forger', '--timeout=120s']);
  }
});
