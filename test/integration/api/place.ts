import {randomBytes} from 'node:crypto';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {CommandFailed} from '../../../hack/cluster/command.ts';
import {waitFor} from '../../../hack/cluster/wait.ts';
import {installCrds} from '../../support/crds.ts';
import {example} from './examples.ts';

/** kubectl as the gateway, which makes Questions. */
export const GATEWAY = ['--as=system:serviceaccount:carrel-system:carrel-gateway', '--as-group=system:masters'];

/** The user that stands for the platform in tests: its name passes admission policies, its group every right. */
export const PLATFORM = ['--as=system:serviceaccount:carrel-system:carrel-controller', '--as-group=system:masters'];

/** A namespace with our kinds, for one test file. */
export interface ApiPlace {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** What kubectl prints; throws when it fails. */
  kubectl(args: readonly string[], input?: unknown): Promise<string>;
  /** What kubectl says when it fails, and '' when it does not. */
  refusal(args: readonly string[], input?: unknown): Promise<string>;
  remove(): Promise<void>;
}

/** Makes the namespace in the running cluster, or in one of a test's own, which has our kinds. */
export async function makeApiPlace(purpose: string, own?: Cluster): Promise<ApiPlace> {
  const cluster = own ?? (await openCluster());
  if (own === undefined) await installCrds(cluster);
  const namespace = `api-${purpose}-${randomBytes(3).toString('hex')}`;
  await cluster.kubectl(['create', 'namespace', namespace]);
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(quiet(namespace)));
  const kubectl = (args: readonly string[], input?: unknown) =>
    cluster.kubectl(['-n', namespace, ...args], input === undefined ? undefined : JSON.stringify(input));
  const refusal = async (args: readonly string[], input?: unknown) => {
    try {
      await kubectl(args, input);
      return '';
    } catch (error) {
      if (error instanceof CommandFailed) return error.stderr.trim();
      throw error;
    }
  };
  const attempt = [String(PLATFORM[0]), 'create', '--dry-run=server', '-f', '-'];
  await waitFor(
    'the running controller to be kept out',
    {timeoutMs: 30_000},
    async () => (await refusal(attempt, example('Turn', 'x'))) !== '',
  );
  return {
    cluster,
    namespace,
    kubectl,
    refusal,
    async remove() {
      await cluster.kubectl(['delete', '--ignore-not-found', '-f', '-'], JSON.stringify(quiet(namespace)));
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
}

/** Keeps a controller that runs in the cluster from writing here: these tests look at the API server alone. */
function quiet(namespace: string) {
  const name = `${namespace}-quiet`;
  const api = {apiVersion: 'admissionregistration.k8s.io/v1', metadata: {name}};
  const resourceRules = [
    {apiGroups: ['carrel.dev'], apiVersions: ['*'], resources: ['*', '*/status'], operations: ['*']},
  ];
  const expression =
    "!request.userInfo.username.startsWith('system:serviceaccount:carrel-system:') || 'system:masters' in request.userInfo.groups";
  const matchConstraints = {
    resourceRules,
    namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': namespace}},
  };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        ...api,
        kind: 'ValidatingAdmissionPolicy',
        spec: {matchConstraints, validations: [{expression, message: 'a test looks at the API server alone'}]},
      },
      {...api, kind: 'ValidatingAdmissionPolicyBinding', spec: {policyName: name, validationActions: ['Deny']}},
    ],
  };
}
