import {randomBytes} from 'node:crypto';
import {z} from 'zod';
import type {Environment} from '../environment.ts';

const Status = z.object({status: z.record(z.string(), z.unknown()).optional()});

/** A namespace with one Agent, and the few things that the bench does in it. */
export class BenchPlace {
  readonly environment: Environment;
  readonly namespace = `bench-${randomBytes(3).toString('hex')}`;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return this.environment.cluster.kubectl(['-n', this.namespace, ...args], stdin);
  }

  async create(kind: string, name: string, spec: object): Promise<void> {
    const object = {apiVersion: 'carrel.dev/v1alpha1', kind, metadata: {name}, spec};
    await this.kubectl(['create', '-f', '-'], JSON.stringify(object));
  }

  /** Makes the namespace and an Agent, and waits until it is published. */
  async open(): Promise<void> {
    await this.environment.cluster.kubectl(['create', 'namespace', this.namespace]);
    await this.agent('bench');
  }

  /** Makes a scripted Agent and waits until it is published. */
  async agent(name: string, args: readonly string[] = []): Promise<void> {
    const command = ['/usr/local/bin/node', '/app/scripted-agent.js'];
    const image = this.environment.images.scriptedAgent;
    await this.create('Agent', name, {image, command, args, workspace: {size: '64Mi'}});
    await this.wait(`agents.carrel.dev/${name}`, '{.status.conditions[?(@.type=="Ready")].status}', 'True');
  }

  async close(): Promise<void> {
    await this.environment.cluster.kubectl(['delete', 'namespace', this.namespace, '--wait=false']);
  }

  async wait(object: string, path: string, value: string): Promise<void> {
    await this.kubectl(['wait', object, `--for=jsonpath=${path}=${value}`, '--timeout=120s']);
  }

  /** Name of the turn that was made from a Session's prompt; waits until it is there and has completed. */
  async firstTurnDone(session: string): Promise<string> {
    await this.kubectl([
      'wait',
      `sessions.carrel.dev/${session}`,
      '--for=jsonpath={.status.initialTurn.name}',
      '--timeout=60s',
    ]);
    const name = (
      await this.kubectl(['get', `sessions.carrel.dev/${session}`, '-o', 'jsonpath={.status.initialTurn.name}'])
    ).trim();
    await this.wait(`turns.carrel.dev/${name}`, '{.status.phase}', 'Completed');
    return name;
  }

  async status(object: string): Promise<Record<string, unknown>> {
    return Status.parse(JSON.parse(await this.kubectl(['get', object, '-o', 'json']))).status ?? {};
  }
}
