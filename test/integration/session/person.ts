import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {z} from 'zod';
import {forwardGateway, gatewayToken} from '../../../hack/gateway.ts';
import {ROOT} from '../../../hack/image/build.ts';
import type {KubeEvent} from '../../../src/api/kube-core.ts';
import {LABEL_SESSION} from '../../../src/api/meta.ts';
import type {QuestionObject} from '../../../src/api/v1alpha1/index.ts';
import {Events} from '../../../src/kube/builtin.ts';
import {LONG, type Place, until} from '../../support/release.ts';

type Kind = 'agents' | 'sessions' | 'turns' | 'questions';

/** Changes fields of a spec, as a person does with `kubectl patch`. */
export function change(place: Place, kind: Kind, name: string, spec: object): Promise<string> {
  return place.kubectl(['patch', `${kind}.carrel.dev`, name, '--type=merge', '-p', JSON.stringify({spec})]);
}

/** What `kubectl describe` prints of a Session. */
export function describeSession(place: Place, name: string): Promise<string> {
  return place.kubectl(['describe', 'sessions.carrel.dev', name]);
}

/** One field of a Session, as `kubectl get -o jsonpath` prints it. */
export function field(place: Place, name: string, path: string): Promise<string> {
  return place.kubectl(['get', 'sessions.carrel.dev', name, '-o', `jsonpath={${path}}`]);
}

/** The Session's open question of that kind, once there is one. */
export function openQuestion(place: Place, session: string, kind: string): Promise<QuestionObject> {
  return until(LONG, async () => {
    const open = (await place.questions(session)).find((q) => q.status?.phase === 'Open' && q.spec.kind === kind);
    if (open === undefined)
      throw new Error(`no open ${kind}; session ${session} is ${JSON.stringify((await place.get(session)).status)}`);
    return open;
  });
}

/** Answers a question with plain kubectl. */
export function answer(place: Place, question: QuestionObject, given: object): Promise<string> {
  return change(place, 'questions', question.metadata.name, {answer: given});
}

/** Names of the pods of one Session that are not on their way out. */
export async function podsOf(place: Place, session: string): Promise<string[]> {
  return (await place.pods()).filter((p) => p.metadata.labels?.[LABEL_SESSION] === session).map((p) => p.metadata.name);
}

/** Events about an object of that name. */
export async function eventsOf(place: Place, name: string): Promise<readonly KubeEvent[]> {
  const {namespace} = place;
  return (await place.release.client.list(Events, {namespace, fieldSelector: `regarding.name=${name}`})).items;
}

const Page = z.object({
  records: z.array(
    z.object({
      kind: z.string(),
      text: z.string().optional(),
      turn: z.object({sequence: z.number()}).optional(),
    }),
  ),
});

/** The transcript of a Session, read through the gateway by a service account that may. */
export async function transcript(place: Place, session: string): Promise<z.infer<typeof Page>['records']> {
  const {cluster} = place.release;
  await place.kubectl(['apply', '-f', '-'], await readFile(join(ROOT, 'examples/reader.yaml'), 'utf8'));
  const token = await gatewayToken(cluster, place.namespace, 'reader');
  const gateway = await forwardGateway(cluster);
  try {
    const url = `${gateway.url}/api/v1/sessions/${session}/transcript?namespace=${place.namespace}&limit=500`;
    const reply = await fetch(url, {headers: {authorization: `Bearer ${token}`}});
    if (!reply.ok) throw new Error(`GET ${url}: ${reply.status} ${await reply.text()}`);
    return Page.parse(await reply.json()).records;
  } finally {
    gateway.close();
  }
}
