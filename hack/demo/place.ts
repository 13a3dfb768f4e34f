import {z} from 'zod';
import type {Cluster} from '../cluster/cluster.ts';

const Turns = z.object({
  items: z.array(
    z.object({
      metadata: z.object({name: z.string()}),
      spec: z.object({session: z.string()}),
      status: z
        .object({
          phase: z.string().optional(),
          sequence: z.number().optional(),
          response: z.string().optional(),
          error: z.object({code: z.string(), message: z.string()}).optional(),
        })
        .optional(),
    }),
  ),
});
const Questions = z.object({
  items: z.array(
    z.object({
      metadata: z.object({name: z.string()}),
      spec: z.object({session: z.string(), text: z.string(), answer: z.unknown().optional()}),
      status: z.object({phase: z.string().optional()}).optional(),
    }),
  ),
});

/** Longest wait for one step of the demo. */
const STEP_MS = 180_000;
const POLL_MS = 250;

/** The namespace of the demo, worked on with kubectl as a person would. */
export class DemoPlace {
  readonly cluster: Cluster;
  readonly namespace: string;

  constructor(cluster: Cluster, namespace: string) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return this.cluster.kubectl(['-n', this.namespace, ...args], stdin);
  }

  /** Makes the namespace, after an earlier one of that name is gone. */
  async fresh(): Promise<void> {
    await this.cluster.kubectl([
      'delete',
      'namespace',
      this.namespace,
      '--ignore-not-found',
      '--wait=true',
      '--timeout=120s',
    ]);
    await this.cluster.kubectl(['create', 'namespace', this.namespace]);
  }

  async turn(name: string, session: string, text: string): Promise<void> {
    const turn = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Turn', metadata: {name}, spec: {session, input: [{text}]}};
    await this.kubectl(['create', '-f', '-'], JSON.stringify(turn));
  }

  /** Waits until that turn completed; any other end is an error that says why. */
  async turnDone(session: string, sequence: number): Promise<void> {
    await this.poll(`turn ${sequence} of session ${session}`, session, async () => {
      const status = await this.turnStatus(session, sequence);
      if (status?.phase === 'Completed') return true;
      if (status?.error !== undefined)
        throw new Error(`turn ${sequence} ended ${status.phase}: ${status.error.code}: ${status.error.message}`);
      return undefined;
    });
  }

  async response(session: string, sequence: number): Promise<string> {
    return (await this.turnStatus(session, sequence))?.response ?? '';
  }

  /** Waits for a question of the Session that is open. */
  openQuestion(session: string): Promise<{name: string; text: string}> {
    return this.poll(`a question of session ${session}`, session, async () => {
      const list = Questions.parse(JSON.parse(await this.kubectl(['get', 'questions.carrel.dev', '-o', 'json'])));
      const open = list.items.find((q) => q.spec.session === session && q.status?.phase === 'Open');
      return open === undefined ? undefined : {name: open.metadata.name, text: open.spec.text};
    });
  }

  async answer(question: string, text: string): Promise<void> {
    const patch = JSON.stringify({spec: {answer: {text}}});
    await this.kubectl(['patch', 'questions.carrel.dev', question, '--type=merge', '-p', patch]);
  }

  private async turnStatus(session: string, sequence: number) {
    const list = Turns.parse(JSON.parse(await this.kubectl(['get', 'turns.carrel.dev', '-o', 'json'])));
    return list.items.find((t) => t.spec.session === session && t.status?.sequence === sequence)?.status;
  }

  /** Tries until there is an answer; when the time is up, shows what the Session says of itself. */
  private async poll<T>(what: string, session: string, probe: () => Promise<T | undefined>): Promise<T> {
    const end = Date.now() + STEP_MS;
    while (Date.now() < end) {
      const found = await probe();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const described = await this.kubectl(['describe', 'sessions.carrel.dev', session]).catch(String);
    throw new Error(`no ${what} within ${STEP_MS / 1000} s\n${described}`);
  }
}
