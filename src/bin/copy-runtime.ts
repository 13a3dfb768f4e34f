import {PATH} from '../api/pod.ts';
import {copyRuntime} from '../shim/runtime-copy.ts';

/** Entry of the init container that copies the runtime. Arguments: folder to copy to, and to copy from. */
const [, , to, from = PATH.runtime] = process.argv;
if (to === undefined) {
  console.error('copy-runtime: name the folder to copy to');
  process.exitCode = 2;
} else {
  copyRuntime(from, to);
}
