import {existingProvider} from './existing.ts';
import {nativeProvider} from './native/provider.ts';
import type {Cluster, Provider, UpOptions} from './provider.ts';
import {DEFAULT_CLUSTER, readSettings} from './settings.ts';

export type {
  ApiServerHandle,
  Cluster,
  Networks,
  NodeHandle,
  Provider,
  StatusLine,
  Tools,
  UpOptions,
} from './provider.ts';
export {DEFAULT_CLUSTER} from './settings.ts';

/** The provider that the environment chooses. One more provider is one more line here. */
export function chooseProvider(): Provider {
  const settings = readSettings();
  return settings.existing ? existingProvider(settings, settings.existing) : nativeProvider(settings);
}

/** Makes the cluster, or brings an existing one to what is asked for, and waits until it works. */
export function up(options: Partial<UpOptions> = {}): Promise<Cluster> {
  return chooseProvider().up({name: DEFAULT_CLUSTER, ...options});
}

/** Removes the cluster with everything in it. */
export function down(name: string = DEFAULT_CLUSTER): Promise<void> {
  return chooseProvider().down(name);
}

/** The cluster as it is, without changing anything. */
export function openCluster(name: string = DEFAULT_CLUSTER): Promise<Cluster> {
  return chooseProvider().open(name);
}
