import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import type {Cluster} from './cluster/cluster.ts';
import {RELEASE_NAMESPACE} from './environment.ts';

/** The gateway, reached through a forwarded port as a person would reach it. */
export interface GatewayAccess {
  /** `http://localhost:<port>`. */
  url: string;
  close(): void;
}

/** Longest time that kubectl may take to forward the port. */
const FORWARD_MS = 20_000;

/** Forwards a free port of this machine to the gateway's Service. */
export function forwardGateway(cluster: Cluster): Promise<GatewayAccess> {
  const args = [
    '--kubeconfig',
    cluster.kubeconfigPath,
    '-n',
    RELEASE_NAMESPACE,
    'port-forward',
    'svc/carrel-gateway',
    ':8080',
  ];
  const child = spawn(cluster.tools.kubectl, args, {stdio: ['ignore', 'pipe', 'inherit']});
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error(`kubectl port-forward to the gateway did not begin within ${FORWARD_MS / 1000} s`));
    }, FORWARD_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`kubectl port-forward to the gateway ended with ${code}`));
    });
    createInterface({input: child.stdout}).on('line', (line) => {
      const port = /^Forwarding from 127\.0\.0\.1:([0-9]+)/.exec(line)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve({url: `http://localhost:${port}`, close: () => void child.kill()});
    });
  });
}

/** A token of a service account, for the gateway: 10 minutes. */
export async function gatewayToken(cluster: Cluster, namespace: string, serviceAccount: string): Promise<string> {
  const args = ['-n', namespace, 'create', 'token', serviceAccount, '--audience', 'carrel', '--duration', '10m'];
  return (await cluster.kubectl(args)).trim();
}
