import {type Connection, inCluster, SERVICE_ACCOUNT_FILES} from './connection.ts';

/** How a process was told to reach the API server; `src/config/environment.ts` makes one. */
export type Access =
  | {readonly kind: 'inCluster'; readonly host: string; readonly port: string}
  | {readonly kind: 'kubeconfig'; readonly path: string};

/** Connect as configured. The kubeconfig reader is loaded only where it is used: its parser costs memory. */
export async function connectTo(access: Access): Promise<Connection> {
  if (access.kind === 'inCluster') return inCluster({...SERVICE_ACCOUNT_FILES, host: access.host, port: access.port});
  const {fromKubeconfig} = await import('./kubeconfig.ts');
  return fromKubeconfig(access.path);
}
