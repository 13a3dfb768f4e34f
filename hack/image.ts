import {join} from 'node:path';
import {ensureBinaries} from './cluster/build.ts';
import {IMAGE_PACKAGES, installPackages} from './cluster/packages.ts';
import {readSettings} from './cluster/settings.ts';
import {imageCache} from './image/build.ts';
import {readDestination} from './image/destination.ts';
import {publish} from './image/publish.ts';

/** `npm run image -- <registry>/<repository>`: builds Carrel's image, pushes it there, and prints its reference by digest. */
try {
  const destination = readDestination(process.argv.slice(2));
  const {cache} = readSettings();
  await installPackages(IMAGE_PACKAGES);
  const {folders} = await ensureBinaries(cache, ['crane']);
  const tools = {crane: join(folders.crane, 'crane'), cache: imageCache(cache)};
  process.stdout.write(`${await publish(destination, tools)}\n`);
} catch (error) {
  process.stderr.write(`carrel: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
