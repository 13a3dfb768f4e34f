import {ATTEMPT_KEY, REAL_KEY, startTestLoopback, type TestLoopback} from './loopback.ts';
import {type Certificate, makeCertificate} from './model-stub/certificate.ts';
import {type ModelStub, startModelStub} from './model-stub/server.ts';
import {startTestRelay, type TestRelay} from './relay.ts';

/** Where the model is, as the Agent says it, and as the relay sees it. */
export const BASE = 'https://model.example';
export const ALLOWED = 'model.example:443';

const anthropic = {
  name: 'stub-model',
  dialect: 'AnthropicMessages' as const,
  baseUrl: BASE,
  keyFile: 'key',
  caFile: 'ca.crt',
  keyFrom: {secret: 'llm', key: 'api-key'},
  caFrom: {configMap: 'ours', key: 'ca.pem'},
  proxy: 'Loopback' as const,
};

/** A loopback with a model proxy, a relay behind it, and a provider behind that. */
export class ModelBench {
  readonly stub: ModelStub;
  readonly relay: TestRelay;
  /** Where the relay leads, by target. */
  readonly routes: Map<string, number>;
  /** The CA bundle that the next `restart` mounts. */
  ca: string;
  private test: TestLoopback | undefined;

  private constructor({stub, relay, routes}: Pick<ModelBench, 'stub' | 'relay' | 'routes'>, ca: string) {
    this.stub = stub;
    this.relay = relay;
    this.routes = routes;
    this.ca = ca;
  }

  private static made: Promise<Certificate> | undefined;

  /** The provider's, of `model.example`: made once for all benches of a file. */
  static certificate(): Promise<Certificate> {
    ModelBench.made ??= makeCertificate(['model.example', '127.0.0.1']);
    return ModelBench.made;
  }

  /** Start one whose provider has that certificate. */
  static async start(): Promise<ModelBench> {
    const certificate = await ModelBench.certificate();
    const stub = await startModelStub({...certificate, apiKey: REAL_KEY});
    const routes = new Map([[ALLOWED, stub.port]]);
    const bench = new ModelBench({stub, routes, relay: await startTestRelay(routes)}, certificate.ca);
    await bench.startLoopback();
    return bench;
  }

  /** Another loopback, whose model or mounted Secret is different. */
  async restart(model?: object, secret?: Record<string, string>): Promise<void> {
    await this.running.close();
    await this.startLoopback(model, secret);
  }

  async stop(): Promise<void> {
    await this.running.close();
    await Promise.all([this.relay.close(), this.stub.close()]);
  }

  get loopback(): TestLoopback['loopback'] {
    return this.running.loopback;
  }

  get log(): TestLoopback['log'] {
    return this.running.log;
  }

  get port(): number {
    return this.running.port;
  }

  writeSecret(name: string, value: string): Promise<void> {
    return this.running.writeSecret(name, value);
  }

  /** The agent asks its model. */
  ask(prompt: string, more: {stream?: boolean; model?: string; headers?: Record<string, string>} = {}) {
    return fetch(`${this.loopback.modelUrl}/v1/messages`, {
      method: 'POST',
      headers: {'x-api-key': ATTEMPT_KEY, 'content-type': 'application/json', ...more.headers},
      body: JSON.stringify({
        model: more.model ?? 'stub-model',
        max_tokens: 100,
        ...(more.stream ? {stream: true} : {}),
        messages: [{role: 'user', content: prompt}],
      }),
    });
  }

  private get running(): TestLoopback {
    if (this.test === undefined) throw new Error('no loopback runs');
    return this.test;
  }

  private async startLoopback(
    model: object = {},
    secret: Record<string, string> = {key: `${REAL_KEY}\n`, origin: BASE},
  ): Promise<void> {
    const {ca, relay} = this;
    this.test = await startTestLoopback({model: {...anthropic, ...model}, egressPort: relay.port, secret, ca});
  }
}
