import {homedir} from 'node:os';
import {join, resolve} from 'node:path';

/** Everything these scripts take from the environment, read in one place. */
export type Settings = {
  /** Built binaries and Go's own caches. */
  cache: string;
  /** One folder per native cluster. */
  state: string;
  /** An existing cluster to use instead of a native one. */
  existing?: {kubeconfig: string; registry: string};
};

/** The name of the cluster that demo and tests use when none is given; CARREL_CLUSTER chooses another one for a whole run. */
export const DEFAULT_CLUSTER = process.env['CARREL_CLUSTER'] || 'carrel';

/** Reads the settings; refuses half a description of an existing cluster. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const cache = resolve(env['CARREL_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'carrel'));
  const state = resolve(env['CARREL_STATE'] || '/var/lib/carrel-cluster');
  const kubeconfig = env['CARREL_KUBECONFIG'];
  if (!kubeconfig) return {cache, state};
  const registry = env['CARREL_REGISTRY'];
  if (!registry) {
    throw new Error(
      'CARREL_KUBECONFIG is set but CARREL_REGISTRY is not: set it to host:port of a registry that this machine can push to and the nodes can pull from',
    );
  }
  return {cache, state, existing: {kubeconfig, registry}};
}
