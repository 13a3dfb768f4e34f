import type * as Tls from 'node:tls';

/** TLS, loaded by the first call of the model: it would take a sixth of the time that a runner needs to start. */
export const tls = (): typeof Tls => process.getBuiltinModule('node:tls');
