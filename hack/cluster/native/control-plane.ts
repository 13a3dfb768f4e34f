import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Binaries} from '../build.ts';
import {runAny} from '../command.ts';
import {waitFor} from '../wait.ts';
import type {Layout} from './layout.ts';
import {findProcess, startProcess, stopProcess} from './process.ts';

/** The processes of the control plane in the order of starting. */
export const CONTROL_PLANE = [
  'registry',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;

/** The name of one of them. */
type ControlPlaneProcess = (typeof CONTROL_PLANE)[number];

/** Metadata of every request: enough to count writes by user, verb and resource. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [{level: 'Metadata'}],
};

/** What every process of the control plane is started with. */
export function controlPlaneArgs(layout: Layout): Record<ControlPlaneProcess, readonly string[]> {
  return {
    registry: [`-address=${layout.registry}`, `-folder=${join(layout.folder, 'registry')}`],
    etcd: etcdArgs(layout),
    'kube-apiserver': apiserverArgs(layout),
    'kube-controller-manager': controllerManagerArgs(layout),
    'kube-scheduler': [...asUser(layout, 'kube-scheduler'), '--leader-elect=false'],
  };
}

/** Starts one process of the control plane, unless it runs. */
export async function ensureControlPlaneProcess(
  layout: Layout,
  name: ControlPlaneProcess,
  from: {binaries: Binaries; apiserverArgs: readonly string[]},
): Promise<void> {
  if ((await findProcess(layout.pids, name)) !== undefined) return;
  const {folders} = from.binaries;
  const binary = join(name === 'registry' ? folders.registry : folders.kubernetes, name);
  const more = name === 'kube-apiserver' ? from.apiserverArgs : [];
  if (name === 'kube-apiserver') {
    await mkdir(dirname(layout.auditLog), {recursive: true});
    await writeFile(auditPolicy(layout), JSON.stringify(AUDIT_POLICY));
  }
  await startProcess(layout.pids, {
    name,
    namespace: layout.controlPlane.namespace,
    command: [binary, ...controlPlaneArgs(layout)[name], ...more],
    log: join(layout.logs, `${name}.log`),
  });
}

/** Ends one process of the control plane. A graceful end of the API server waits for open watches, so it is bounded. */
export async function stopControlPlaneProcess(
  layout: Layout,
  name: ControlPlaneProcess,
  graceMs = 5_000,
): Promise<void> {
  await stopProcess(layout.pids, name, graceMs);
}

/** Waits until the API server says that it is ready, or its process has ended. */
export async function waitForApiServer(layout: Layout, binaries: Binaries): Promise<void> {
  const kubectl = join(binaries.folders.kubernetes, 'kubectl');
  const args = ['--kubeconfig', layout.kubeconfig, '--request-timeout=5s', 'get', '--raw', '/readyz'];
  const answer = await waitFor('readiness of the API server', {timeoutMs: 120_000, everyMs: 200}, async () => {
    if ((await findProcess(layout.pids, 'kube-apiserver')) === undefined) return 'ended';
    const {code, stderr} = await runAny(kubectl, args);
    if (code !== 0) throw new Error(stderr.trim().slice(-300));
    return 'ready';
  });
  if (answer === 'ended') throw new Error(`the API server ended; see ${join(layout.logs, 'kube-apiserver.log')}`);
}

function auditPolicy(layout: Layout): string {
  return join(dirname(layout.auditLog), 'policy.json');
}

const ETCD = 'http://127.0.0.1:2379';

function etcdArgs(layout: Layout): string[] {
  return [
    `--data-dir=${join(layout.folder, 'etcd')}`,
    '--unsafe-no-fsync', // a test cluster may lose its data with the machine, not with a process
    `--listen-client-urls=${ETCD}`,
    `--advertise-client-urls=${ETCD}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
  ];
}

function apiserverArgs(layout: Layout): string[] {
  const file = (name: string) => join(layout.pki, name);
  return [
    `--etcd-servers=${ETCD}`,
    `--advertise-address=${layout.controlPlane.address}`,
    '--secure-port=6443',
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement',
    `--service-cluster-ip-range=${layout.networks.services}`,
    '--allow-privileged',
    `--kubelet-client-certificate=${file('kubelet-client.crt')}`,
    `--kubelet-client-key=${file('kubelet-client.key')}`,
    `--kubelet-certificate-authority=${file('ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--enable-aggregator-routing', // there is no kube-proxy beside the API server: webhooks are reached by their pods' addresses
    `--audit-policy-file=${auditPolicy(layout)}`,
    `--audit-log-path=${layout.auditLog}`,
    '--audit-log-maxsize=1024',
    '--audit-log-maxbackup=1',
  ];
}

function asUser(layout: Layout, name: string): string[] {
  const kubeconfig = join(layout.pki, `${name}.conf`);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
  ];
}

function controllerManagerArgs(layout: Layout): string[] {
  return [
    ...asUser(layout, 'kube-controller-manager'),
    `--service-account-private-key-file=${join(layout.pki, 'sa.key')}`,
    `--root-ca-file=${join(layout.pki, 'ca.crt')}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    '--node-monitor-grace-period=10s',
    '--node-monitor-period=2s',
  ];
}
