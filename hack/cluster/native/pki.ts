import {generateKeyPairSync} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {run} from '../command.ts';
import type {Layout, NodeLayout} from './layout.ts';

/** A certificate's owner: the API server takes the user from CN and the groups from O. */
type Subject = {file: string; name: string; group?: string; alternatives?: readonly string[]};

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'];

/** Makes the authority, the service account key and the control plane's certificates, each unless it is there. */
export async function ensurePki(layout: Layout): Promise<void> {
  const {pki, controlPlane} = layout;
  await mkdir(pki, {recursive: true, mode: 0o700});
  if (!existsSync(join(pki, 'ca.crt'))) {
    const files = ['-keyout', join(pki, 'ca.key'), '-out', join(pki, 'ca.crt')];
    await run('openssl', ['req', '-x509', ...EC_KEY, ...files, '-subj', `/CN=carrel-${layout.name}`]);
  }
  if (!existsSync(join(pki, 'sa.pub'))) {
    const pair = generateKeyPairSync('rsa', {modulusLength: 2048});
    await writeFile(join(pki, 'sa.key'), pair.privateKey.export({type: 'pkcs1', format: 'pem'}), {mode: 0o600});
    await writeFile(join(pki, 'sa.pub'), pair.publicKey.export({type: 'spki', format: 'pem'}));
  }
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
  ];
  const addresses = ['127.0.0.1', controlPlane.address, layout.apiServiceAddress];
  const alternatives = [...names.map((name) => `DNS:${name}`), ...addresses.map((address) => `IP:${address}`)];
  await ensureCertificate(layout, {file: 'apiserver', name: 'kube-apiserver', alternatives});
  await ensureCertificate(layout, {file: 'kubelet-client', name: 'apiserver-kubelet-client', group: 'system:masters'});
  await ensureUser(layout, {file: 'admin', name: 'admin', group: 'system:masters'}, layout.kubeconfig);
  for (const name of ['kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kube-router']) {
    await ensureUser(layout, {file: name, name: `system:${name}`}, join(pki, `${name}.conf`));
  }
}

/** Makes a node's certificate and puts into its folder what it may know, and no more. */
export async function ensureNodePki(layout: Layout, node: NodeLayout): Promise<void> {
  const own = join(node.folder, 'pki');
  await mkdir(own, {recursive: true, mode: 0o700});
  const alternatives = [`DNS:${node.name}`, `IP:${node.address}`];
  const subject = {file: node.name, name: `system:node:${node.name}`, group: 'system:nodes', alternatives};
  await ensureUser(layout, subject, join(own, 'kubelet.conf'));
  const copies = [
    [`${node.name}.crt`, 'kubelet.crt'],
    [`${node.name}.key`, 'kubelet.key'],
    ['ca.crt', 'ca.crt'],
    ['kube-proxy.conf', 'kube-proxy.conf'],
    ['kube-router.conf', 'kube-router.conf'],
  ] as const;
  for (const [from, to] of copies)
    await writeFile(join(own, to), await readFile(join(layout.pki, from)), {mode: 0o600});
}

async function ensureCertificate(layout: Layout, subject: Subject): Promise<void> {
  const path = join(layout.pki, subject.file);
  if (existsSync(`${path}.crt`)) return;
  const issuer = ['-CA', join(layout.pki, 'ca.crt'), '-CAkey', join(layout.pki, 'ca.key')];
  const owner = `${subject.group === undefined ? '' : `/O=${subject.group}`}/CN=${subject.name}`;
  const extensions = [
    `subjectAltName=${(subject.alternatives ?? ['DNS:localhost']).join(',')}`,
    'extendedKeyUsage=serverAuth,clientAuth',
    'basicConstraints=critical,CA:FALSE',
  ].flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', `${path}.key`, '-out', `${path}.crt`];
  await run('openssl', ['req', '-x509', ...EC_KEY, ...issuer, ...files, '-subj', owner, ...extensions]);
}

async function ensureUser(layout: Layout, subject: Subject, kubeconfig: string): Promise<void> {
  await ensureCertificate(layout, subject);
  const base64 = async (file: string) => (await readFile(join(layout.pki, file))).toString('base64');
  const text = `apiVersion: v1
kind: Config
clusters:
- name: ${layout.name}
  cluster: {server: "${layout.controlPlane.apiServer}", certificate-authority-data: ${await base64('ca.crt')}}
users:
- name: ${subject.name}
  user: {client-certificate-data: ${await base64(`${subject.file}.crt`)}, client-key-data: ${await base64(`${subject.file}.key`)}}
contexts:
- name: ${layout.name}
  context: {cluster: ${layout.name}, user: "${subject.name}"}
current-context: ${layout.name}
`;
  await writeFile(kubeconfig, text, {mode: 0o600});
}
