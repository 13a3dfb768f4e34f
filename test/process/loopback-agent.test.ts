import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {bundleAgent, startTestAgent, type TestAgent} from '../support/acp-client.ts';
import {ATTEMPT_KEY, REAL_KEY, startTestLoopback, type TestLoopback} from '../support/loopback.ts';
import {makeCertificate} from '../support/model-stub/certificate.ts';
import {type ModelStub, startModelStub} from '../support/model-stub/server.ts';
import {startTestRelay, type TestRelay} from '../support/relay.ts';

let folder: string;
let stub: ModelStub;
let relay: TestRelay;
let test: TestLoopback;
let agent: TestAgent;
let sessionId: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carrel-agent-'));
  const certificate = await makeCertificate(['model.example', 'site.example']);
  await writeFile(join(folder, 'ca.crt'), certificate.ca);
  stub = await startModelStub({...certificate, apiKey: REAL_KEY});
  const routes = new Map([
    ['model.example:443', stub.port],
    ['site.example:443', stub.port],
  ]);
  relay = await startTestRelay(routes);
  const origin = 'https://model.example';
  test = await startTestLoopback({
    model: {
      name: 'stub-model',
      dialect: 'AnthropicMessages',
      baseUrl: origin,
      keyFile: 'key',
      caFile: 'ca.crt',
      proxy: 'Loopback',
    },
    egressPort: relay.port,
    secret: {key: REAL_KEY, origin},
    ca: certificate.ca,
  });
  const {modelUrl, modelKey, modelName, proxyUrl} = test.loopback;
  agent = startTestAgent({
    program: await bundleAgent(folder),
    home: folder,
    env: {
      CARREL_MODEL_URL: modelUrl,
      CARREL_MODEL_KEY: modelKey,
      CARREL_MODEL_NAME: modelName,
      HTTPS_PROXY: proxyUrl,
      NO_PROXY: '127.0.0.1',
      NODE_USE_ENV_PROXY: '1',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
    },
  });
  await agent.agent.request('initialize', {protocolVersion: 1});
  ({sessionId} = await agent.agent.request('session/new', {cwd: folder, mcpServers: []}));
});

afterEach(async () => {
  await agent.close();
  await test.close();
  await Promise.all([relay.close(), stub.close()]);
  await rm(folder, {recursive: true, force: true});
});

async function say(prompt: string): Promise<string> {
  await agent.prompt(sessionId, prompt);
  await new Promise(setImmediate);
  return agent.said();
}

describe('an agent behind the loopback', () => {
  it('talks to its model with a key that is worth nothing elsewhere', async () => {
    expect(await say('model stub say hello from the model')).toBe('hello from the model\n');
    expect(stub.seen[0]?.headers['x-api-key']).toBe(REAL_KEY);
    const [, ...names] = (await say('env')).trim().split(' ');
    const values = await say(names.map((name) => `env ${name}`).join('\n'));
    expect(values).toContain(ATTEMPT_KEY);
    expect(values).not.toContain(REAL_KEY);
    expect(await say('model stub headers')).not.toContain(REAL_KEY);
  });

  it('reaches its listed hosts through the proxy settings that it was given, and no others', async () => {
    expect(await say('fetch https://site.example/healthz')).toContain('fetch: 200 {"ok":true}');
    expect(await say('fetch https://evil.example/')).toContain('fetch: failed');
    expect(relay.seen.map(({target, purpose}) => [target, purpose])).toEqual([
      ['site.example:443', 'agent'],
      ['evil.example:443', 'agent'],
    ]);
  });

  it('that hides a failed model call leaves it in the ledger', async () => {
    await say('quietmodel stub error 529 overloaded');
    await expect.poll(() => test.loopback.lastModelError()).toMatchObject({status: 529, message: 'overloaded'});
  });
});
