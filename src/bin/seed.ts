import {PATH} from '../api/pod.ts';
import {SeedIncomplete, seedVolume} from '../shim/seed-volume.ts';

/** Entry of the seed container, which runs as the agent's user. Argument: folder to seed from. Exit code 3: `SeedIncomplete`. */
const [, , source, volume = PATH.data] = process.argv;
try {
  console.log(`workspace ${seedVolume(volume, source)}`);
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = error instanceof SeedIncomplete ? 3 : 1;
}
