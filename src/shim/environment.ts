/** Blank in the container so that an image's values never reach the shim; a blank one is not handed on either. */
const BLANKED = ['NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH'];

/** Environment of the agent's process: the container's without what Kubernetes injects, then what the start adds. */
export function childEnvironment(
  container: Readonly<Record<string, string>>,
  added: readonly {name: string; value: string}[],
  folders: {home: string; workspace: string},
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(container)) {
    if (name.startsWith('KUBERNETES_')) continue;
    if (BLANKED.includes(name) && value === '') continue;
    child[name] = value;
  }
  child['HOME'] = folders.home;
  child['PWD'] = folders.workspace;
  for (const {name, value} of added) child[name] = value;
  return child;
}
