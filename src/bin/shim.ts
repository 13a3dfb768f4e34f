import {readShimConfig} from '../config/shim.ts';
import {Shim} from '../shim/shim.ts';

/** Entry of the shim: it runs as the agent's user under an init that reaps. */
const config = readShimConfig(process.env);
const shim = new Shim(config.socket, config);
process.on('SIGTERM', () => void shim.terminate());
process.on('SIGINT', () => void shim.terminate());
await shim.run();
process.exit(0);
