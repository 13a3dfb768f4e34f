import {PATH} from '../api/pod.ts';

/** Settings of the shim. Checked by hand: a schema library would cost more memory than the shim itself. */
export type ShimConfig = {
  readonly socket: string;
  readonly workspace: string;
  readonly home: string;
  /** The init that starts this process in a container. */
  readonly init: string;
  /** Environment that the agent's process starts from: the container's own. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Reads the settings; the paths are changed by tests only. */
export function readShimConfig(env: NodeJS.ProcessEnv): ShimConfig {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith('CARREL_SHIM_')) environment[name] = value;
  }
  return Object.freeze({
    socket: env['CARREL_SHIM_SOCKET'] ?? PATH.socket,
    workspace: env['CARREL_SHIM_WORKSPACE'] ?? PATH.workspace,
    home: env['CARREL_SHIM_HOME'] ?? PATH.home,
    init: env['CARREL_SHIM_INIT'] ?? PATH.init,
    environment: Object.freeze(environment),
  });
}
