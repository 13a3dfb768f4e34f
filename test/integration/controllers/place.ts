import {randomBytes} from 'node:crypto';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {CommandFailed} from '../../../hack/cluster/command.ts';
import {waitFor} from '../../../hack/cluster/wait.ts';
import type {QuestionObject, SessionObject, SessionSpec, TurnObject} from '../../../src/api/v1alpha1/index.ts';
import {Pods} from '../../../src/kube/builtin.ts';
import {type Connection, connectWith} from '../../../src/kube/connection.ts';
import {Questions, Sessions, Turns} from '../../../src/kube/kinds.ts';
import {fromKubeconfig} from '../../../src/kube/kubeconfig.ts';
import {AGENT_IMAGE, type ControllerFixture, servicesOf, startControllers} from '../../support/controller-fixture.ts';
import {installCrds} from '../../support/crds.ts';
import {GATEWAY} from '../api/place.ts';

/**
 * A namespace on the real API server with the controllers in this process. Its Agent asks for more CPU than any node has,
 * so that no kubelet ever sees a pod: the test itself plays runner and gateway.
 */
export interface Place extends ControllerFixture {
  readonly cluster: Cluster;
  create(kind: 'Agent' | 'Session' | 'Turn' | 'Question', name: string, spec: object, metadata?: object): Promise<void>;
  patch(kind: string, name: string, spec: object): Promise<void>;
  kubectl(...args: string[]): Promise<string>;
  question(name: string): Promise<QuestionObject>;
  /** Wait for a Session that is as wanted. */
  sessionIs(name: string, wanted: (session: SessionObject) => boolean): Promise<SessionObject>;
  turnIs(name: string, wanted: (turn: TurnObject) => boolean): Promise<TurnObject>;
  questionIs(name: string, wanted: (question: QuestionObject) => boolean): Promise<QuestionObject>;
  /** Create a session and take it to Idle, with a runner that is ready. */
  idle(name: string, spec?: Partial<SessionSpec>): Promise<SessionObject>;
  pods(): Promise<string[]>;
  /** Every Session, Turn, Question and pod with its resourceVersion: equal before and after means that nothing was written. */
  versions(): Promise<string[]>;
  /** Stop and start all controllers, as a new leader would. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** CPU that no node has. */
const AGENT = {image: AGENT_IMAGE, command: ['agent'], resources: {requests: {cpu: '1000'}}};

export async function makePlace(purpose: string): Promise<Place> {
  const cluster = await openCluster();
  await installCrds(cluster);
  const namespace = `controllers-${purpose}-${randomBytes(3).toString('hex')}`;
  await cluster.kubectl(['create', 'namespace', namespace]);
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(quiet(namespace)));
  const kubectl = (...args: string[]) => cluster.kubectl(['-n', namespace, ...args]);
  const apply = (object: object) => cluster.kubectl(['-n', namespace, 'create', '-f', '-'], JSON.stringify(object));
  const create: Place['create'] = async (kind, name, spec, metadata = {}) => {
    const object = {apiVersion: 'carrel.dev/v1alpha1', kind, metadata: {name, ...metadata}, spec};
    const who = kind === 'Question' ? GATEWAY : [];
    await cluster.kubectl([...who, '-n', namespace, 'create', '-f', '-'], JSON.stringify(object));
  };
  await enforced(cluster, namespace);
  await create('Agent', 'scribe', AGENT);
  const {connection, releaseNamespace} = await connectAsController(cluster);
  if (releaseNamespace === undefined) for (const service of servicesOf(namespace)) await apply(service);
  const start = () =>
    startControllers({connection, namespace, ...(releaseNamespace === undefined ? {} : {releaseNamespace})});
  let fixture = await start();
  // The controller may not read a Question by its name.
  const question = async (name: string) => {
    const {items} = await fixture.client.list(Questions, {namespace, fieldSelector: `metadata.name=${name}`});
    const [found] = items;
    if (found === undefined) throw new Error(`there is no Question ${name}`);
    return found;
  };
  const is = async <T>(what: string, read: () => Promise<T>, wanted: (object: T) => boolean): Promise<T> => {
    let last: T | undefined;
    try {
      return await fixture.until(what, async () => {
        last = await read();
        return wanted(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`${what}: ${JSON.stringify(last)}`, {cause: error});
    }
  };
  const place: Omit<Place, keyof ControllerFixture> = {
    cluster,
    create,
    kubectl,
    question,
    async patch(kind, name, spec) {
      await kubectl('patch', kind, name, '--type=merge', '-p', JSON.stringify({spec}));
    },
    sessionIs: (name, wanted) => is(`session ${name}`, () => fixture.session(name), wanted),
    turnIs: (name, wanted) => is(`turn ${name}`, () => fixture.turn(name), wanted),
    questionIs: (name, wanted) => is(`question ${name}`, () => question(name), wanted),
    async idle(name, spec = {}) {
      await create('Session', name, {agent: 'scribe', ...spec});
      await place.sessionIs(name, (s) => s.status?.pod !== undefined);
      await fixture.report(name);
      return place.sessionIs(name, (s) => s.status?.phase === 'Idle' || s.status?.phase === 'Running');
    },
    async pods() {
      return (await fixture.client.list(Pods, {namespace})).items.map((p) => p.metadata.name);
    },
    async versions() {
      const {client} = fixture;
      const lists = await Promise.all([
        client.list(Sessions, {namespace}),
        client.list(Turns, {namespace}),
        client.list(Questions, {namespace}),
        client.list(Pods, {namespace}),
      ]);
      return lists.flatMap(({items}) => items.map((o) => `${o.kind}/${o.metadata.name}@${o.metadata.resourceVersion}`));
    },
    async restart() {
      await fixture.stop();
      fixture = await start();
    },
    async remove() {
      await fixture.stop();
      connection.close();
      await cluster.kubectl(['delete', '--ignore-not-found', '-f', '-'], JSON.stringify(quiet(namespace)));
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
  // After a restart the newest fixture answers.
  return new Proxy<Place>(
    {...fixture, ...place},
    {
      get: (target, key) => (key in place ? Reflect.get(target, key) : Reflect.get(fixture, key)),
      set: (_target, key, value) => Reflect.set(fixture, key, value),
    },
  );
}

/** Keeps the controllers of a release that is installed in this cluster out of the namespace. */
function quiet(namespace: string): object {
  const api = {apiVersion: 'admissionregistration.k8s.io/v1', metadata: {name: `${namespace}-quiet`}};
  const resourceRules = [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*']}];
  // Tokens of pods name their pod; those that the test uses do not.
  const expression =
    "!request.userInfo.username.startsWith('system:serviceaccount:carrel-system:') || !has(request.userInfo.extra) || !('authentication.kubernetes.io/pod-name' in request.userInfo.extra)";
  const namespaceSelector = {matchLabels: {'kubernetes.io/metadata.name': namespace}};
  const spec = {
    matchConstraints: {resourceRules, namespaceSelector},
    validations: [{expression, message: 'a test runs its own controllers here'}],
  };
  const binding = {policyName: `${namespace}-quiet`, validationActions: ['Deny']};
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {...api, kind: 'ValidatingAdmissionPolicy', spec},
      {...api, kind: 'ValidatingAdmissionPolicyBinding', spec: binding},
    ],
  };
}

/**
 * Where a release is installed its policies let nobody but its own service accounts write a status: the test then takes the
 * controller's, and with it exactly the rights that the chart gives. Else the cluster's administrator will do.
 */
async function connectAsController(cluster: Cluster): Promise<{connection: Connection; releaseNamespace?: string}> {
  const admin = fromKubeconfig(cluster.kubeconfigPath);
  const account = [
    '-n',
    'carrel-system',
    'get',
    'serviceaccount',
    'carrel-controller',
    '--ignore-not-found',
    '-o',
    'name',
  ];
  if ((await cluster.kubectl(account)) === '') return {connection: admin};
  const token = await cluster.kubectl(['-n', 'carrel-system', 'create', 'token', 'carrel-controller', '--duration=2h']);
  const {ca} = admin.credentials();
  return {connection: connectWith(admin.server, {ca, token: token.trim()}), releaseNamespace: 'carrel-system'};
}

/** Policies take hold up to a second after they were made: ask as a pod of the release until the answer is no. */
async function enforced(cluster: Cluster, namespace: string): Promise<void> {
  const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}};
  const as = [
    '--as=system:serviceaccount:carrel-system:carrel-controller',
    '--as-group=system:masters',
    '--as-user-extra=authentication.kubernetes.io/pod-name=any',
  ];
  await waitFor('the controllers of the cluster to be kept out', {timeoutMs: 30_000}, async () => {
    try {
      await cluster.kubectl(['-n', namespace, ...as, 'create', '--dry-run=server', '-f', '-'], JSON.stringify(map));
      return false;
    } catch (error) {
      if (error instanceof CommandFailed) return true;
      throw error;
    }
  });
}
