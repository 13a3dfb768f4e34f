import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {Cluster} from '../../hack/cluster/cluster.ts';

const CRDS = join(import.meta.dirname, '../../crds');

/** Files of the CRDs of the repository, as they are committed. */
export async function crdFiles(): Promise<string[]> {
  return (await readdir(CRDS)).map((name) => join(CRDS, name)).sort();
}

/**
 * Makes the cluster serve our kinds as this tree declares them. May be called by every test file, at any time: nothing happens when
 * they are there already. A warning of the API server is an error. The fields stay Helm's, which installs them in the release.
 */
export async function installCrds(cluster: Cluster): Promise<void> {
  const files = (await crdFiles()).flatMap((file) => ['-f', file]);
  await cluster.kubectl([
    'apply',
    '--server-side',
    '--force-conflicts',
    '--field-manager=helm',
    '--warnings-as-errors',
    ...files,
  ]);
  await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...files]);
}
