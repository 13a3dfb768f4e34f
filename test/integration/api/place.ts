import {randomBytes} from 'node:crypto';
import {type Cluster, openCluster} from '../../../hack/cluster/cluster.ts';
import {CommandFailed} from '../../../hack/cluster/command.ts';
import {installCrds} from '../../support/crds.ts';

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

/** Makes the namespace in the running cluster. */
export async function makeApiPlace(purpose: string): Promise<ApiPlace> {
  const cluster = await openCluster();
  await installCrds(cluster);
  const namespace = `api-${purpose}-${randomBytes(3).toString('hex')}`;
  await cluster.kubectl(['create', 'namespace', namespace]);
  const kubectl = (args: readonly string[], input?: unknown) =>
    cluster.kubectl(['-n', namespace, ...args], input === undefined ? undefined : JSON.stringify(input));
  return {
    cluster,
    namespace,
    kubectl,
    async refusal(args, input) {
      try {
        await kubectl(args, input);
        return '';
      } catch (error) {
        if (error instanceof CommandFailed) return error.stderr.trim();
        throw error;
      }
    },
    async remove() {
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
}
