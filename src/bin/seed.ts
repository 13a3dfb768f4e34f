import {PATH, SEED_EXIT} from '../api/pod.ts';
import {NoSource, SeedIncomplete, seedVolume} from '../shim/seed-volume.ts';

/** Entry of the seed container, which runs as the agent's user. Argument: folder to seed from. Exit codes: `SEED_EXIT`. */
const [, , source, volume = PATH.data] = process.argv;
try {
  console.log(`workspace ${seedVolume(volume, source)}`);
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = exitCode(error);
}

function exitCode(error: unknown): number {
  if (error instanceof SeedIncomplete) return SEED_EXIT.incomplete;
  return error instanceof NoSource ? SEED_EXIT.noSource : 1;
}
