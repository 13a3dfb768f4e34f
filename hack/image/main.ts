import {openCluster} from '../cluster/cluster.ts';
import {readSettings} from '../cluster/settings.ts';
import {buildImages, imageCache} from './build.ts';

/** `node hack/image/main.ts [cluster]`: builds all images, pushes them to the cluster's registry and prints their digests. */
const cluster = await openCluster(process.argv[2]);
const images = await buildImages({
  registry: cluster.registry,
  crane: cluster.tools.crane,
  cache: imageCache(readSettings().cache),
});
process.stdout.write(`${JSON.stringify(images, null, 2)}\n`);
