import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {z} from 'zod';
import type {TurnObject} from '../../../src/api/v1alpha1/index.ts';
import {PURPOSE_HEADER} from '../../../src/api/wire/egress.ts';
import {type Certificate, makeCertificate} from '../../support/model-stub/certificate.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {agentPid, attack, makeSecret, podOf} from '../isolation/attack.ts';

/** The stub answers to this key alone, so an answer shows that it came. */
const KEY = 'sk-stub-0b7d5c31f6e94a28';
const PORT = 8443;
const Replies = z.array(z.object({status: z.number(), body: z.string()}));

describe('the model of a session, and the network of its agent', () => {
  let place: Place;
  let host: string;
  /** Address of the API server's Service. */
  let apiServer: string;
  let certificate: Certificate;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'model');
    host = `model-stub.${place.namespace}.svc.cluster.local`;
    const address = ['-n', 'default', 'get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}'];
    apiServer = await place.release.kubectl(address);
    certificate = await makeCertificate([host]);
    await startStub();
    await makeSecret(place, 'provider', {token: KEY, origin: `https://${host}:${PORT}`});
    await makeSecret(place, 'elsewhere', {token: KEY, origin: 'https://model.example'});
    await place.kubectl(['create', 'configmap', 'model-ca', `--from-literal=ca.crt=${certificate.ca}`]);
    const workspace = {size: '64Mi'};
    await place.agent('asker', {workspace, model: model('provider')});
    await place.agent('stray', {workspace, model: model('elsewhere')});
    await place.agent('walker', {
      workspace,
      files: [{path: 'ca.pem', content: certificate.ca}],
      env: [{name: 'NODE_EXTRA_CA_CERTS', value: '/home/agent/ca.pem'}],
      network: {
        egress: [
          {host, ports: [PORT]},
          {host: 'kubernetes.default.svc.cluster.local'},
          {cidr: '169.254.0.0/16', ports: [80, 443]},
          {cidr: `${apiServer}/32`},
        ],
      },
    });
    await place.session('asks', {agent: 'asker', prompt: 'model what is a carrel?'});
    await place.session('strays', {agent: 'stray', prompt: 'model hello'});
    await place.session('walks', {agent: 'walker', prompt: `fetch https://${host}:${PORT}/healthz`});
  });
  afterAll(async () => {
    await place.remove();
  });

  function model(secret: string) {
    return {
      name: 'stub-model',
      dialect: 'AnthropicMessages',
      baseUrl: `https://${host}:${PORT}`,
      caBundle: {configMap: 'model-ca', key: 'ca.crt'},
      key: {secret, key: 'token'},
    } as const;
  }

  async function startStub(): Promise<void> {
    await makeSecret(place, 'stub-tls', {'tls.crt': certificate.cert, 'tls.key': certificate.key});
    const args = ['--cert', '/tls/tls.crt', '--key', '/tls/tls.key', '--port', String(PORT), '--api-key', KEY];
    const container = {
      name: 'stub',
      image: place.release.images.modelStub,
      args,
      ports: [{containerPort: PORT}],
      readinessProbe: {tcpSocket: {port: PORT}, periodSeconds: 1},
      volumeMounts: [{name: 'tls', mountPath: '/tls'}],
    };
    const volumes = [{name: 'tls', secret: {secretName: 'stub-tls'}}];
    const metadata = {name: 'model-stub', labels: {app: 'model-stub'}};
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {containers: [container], volumes, terminationGracePeriodSeconds: 0},
    };
    const spec = {selector: {app: 'model-stub'}, ports: [{port: PORT, targetPort: PORT}]};
    const list = {apiVersion: 'v1', kind: 'List', items: [pod, {apiVersion: 'v1', kind: 'Service', metadata, spec}]};
    await place.kubectl(['create', '-f', '-'], JSON.stringify(list));
    await place.kubectl(['wait', '--for=condition=Ready', 'pod/model-stub', '--timeout=120s']);
  }

  /** Sends one more prompt and waits for its end. */
  async function prompt(session: string, name: string, text: string): Promise<NonNullable<TurnObject['status']>> {
    await place.turn(name, session, text);
    return await until(120_000, async () => {
      const turn = (await place.turns(session)).find((one) => one.metadata.name === name);
      if (turn?.status?.finishedAt === undefined) throw new Error(`turn ${name} is ${JSON.stringify(turn?.status)}`);
      return turn.status;
    });
  }

  /** What the agent's own requests to the proxy are answered with. */
  async function connects(session: string, targets: readonly string[], headers: Record<string, string> = {}) {
    const pod = await podOf(place, session);
    const credential = {'proxy-authorization': 'Basic $BASIC_CARREL_MCP_TOKEN'};
    const requests = targets.map((target) => ({
      url: 'http://127.0.0.1:9101',
      method: 'CONNECT',
      target,
      headers: {...credential, ...headers},
    }));
    return await attack({place, pod}, 'requests', {
      input: {agent: await agentPid({place, pod}), requests},
      result: Replies,
    });
  }

  it('a turn asks the model through proxy and relay, with the real key put in, and what it used is counted', async () => {
    const turn = await place.untilTurn('asks', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', stopReason: 'EndTurn'});
    expect(turn.status?.response).toContain('the model heard: what is a carrel?');
    expect(turn.status?.usage).toMatchObject({inputTokens: expect.any(Number), outputTokens: expect.any(Number)});
    expect(turn.status?.usage?.inputTokens).toBeGreaterThan(0);
    expect(turn.status?.usage?.outputTokens).toBeGreaterThan(0);
    // The next turn has its own count, not the sum.
    const next = await prompt('asks', 'short', 'model stub say yes');
    expect(next.usage?.outputTokens).toBe(1);
  });

  it('the agent never sees the key: not in its environment, not when the provider says it back', async () => {
    const said = await prompt('asks', 'echo', 'model stub headers\nenv CARREL_MODEL_KEY');
    expect(said.phase).toBe('Completed');
    expect(said.response).toContain('x-api-key');
    expect(said.response).not.toContain(KEY);
    const all = await place.kubectl(['get', 'sessions.carrel.dev,turns.carrel.dev,events', '-o', 'yaml']);
    const logs = await place.kubectl(['logs', await podOf(place, 'asks'), '--all-containers']);
    expect(all + logs).not.toContain(KEY);
  });

  it('a failed model call fails the turn with the words of the provider, also when the agent says nothing of it', async () => {
    const loud = await prompt('asks', 'loud', 'model stub error 529 the stub is overloaded');
    expect(loud).toMatchObject({phase: 'Failed', error: {code: 'model_error'}});
    expect(loud.error?.message).toContain('the stub is overloaded');
    const quiet = await prompt('asks', 'quiet', 'quietmodel stub error 500 the stub broke');
    expect(quiet).toMatchObject({phase: 'Failed', error: {code: 'model_error'}});
    expect(quiet.error?.message).toContain('the stub broke');
    const redirected = await prompt('asks', 'redirected', 'model stub redirect https://evil.example/');
    expect(redirected).toMatchObject({phase: 'Failed', error: {code: 'model_error'}});
    expect((await prompt('asks', 'after', 'model stub say well again')).response).toContain('well again');
  });

  it('a key that is bound to another origin is not sent, and the session says why', async () => {
    const session = await place.untilSession('strays', (s) => s.status?.phase === 'Failed');
    const ready = session.status?.conditions?.find((one) => one.type === 'Ready');
    expect(ready).toMatchObject({status: 'False', reason: 'OriginMismatch'});
    expect(ready?.message).toContain(`origin must be https://${host}:${PORT}`);
  });

  it('the agent reaches a host that its Agent lists, through HTTPS_PROXY', async () => {
    const turn = await place.untilTurn('walks', 1);
    expect(turn.status?.response).toContain('fetch: 200 {"ok":true}');
  });

  it('it is refused every other host, and what resolves to an address of the cluster, in clear words', async () => {
    await place.untilTurn('walks', 1);
    const targets = [
      `${host}:443`,
      'example.com:443',
      'kubernetes.default.svc.cluster.local:443',
      '169.254.169.254:80',
      `${apiServer}:443`,
      '2130706433:443',
    ];
    const replies = await connects('walks', targets);
    expect(replies.map((reply) => reply.status)).toEqual([403, 403, 403, 403, 403, 400]);
    expect(replies[0]?.body).toContain(
      `${host}:443 is not allowed: network.egress of the Agent allows ${host}:${PORT}`,
    );
    expect(replies[1]?.body).toContain('host_not_allowed');
    expect(replies[2]?.body).toContain('an address of this cluster');
    expect(replies[3]?.body).toContain('a cloud metadata address');
    expect(replies[4]?.body).toContain('an address of this cluster');
  });

  it("the model's host is the runner's alone: the agent cannot claim the purpose", async () => {
    await place.untilTurn('asks', 1);
    const target = `${host}:${PORT}`;
    const [plain] = await connects('asks', [target]);
    const [claimed] = await connects('asks', [target], {[PURPOSE_HEADER]: 'model'});
    for (const reply of [plain, claimed]) {
      expect(reply?.status).toBe(403);
      expect(reply?.body).toContain('the Agent lists no hosts in network.egress');
    }
    const by = await prompt('asks', 'fetches', `fetch https://${target}/healthz`);
    expect(by.response).toContain('fetch: failed');
  });
});
