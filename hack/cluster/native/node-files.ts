import {existsSync} from 'node:fs';
import {mkdir, readFile, statfs, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Layout, NodeLayout} from './layout.ts';

const OVERLAYFS_MAGIC = 0x794c7630;
/** How the node sees its own folder. */
const INSIDE = '/run/carrel/node';

/** The files that a node's components read, by their path in its folder. */
export async function nodeFiles(
  layout: Layout,
  node: NodeLayout,
  snapshotter: string,
): Promise<Record<string, string>> {
  return {
    [`certs.d/${layout.registry}/hosts.toml`]: registryHost(layout.registry),
    'cni/10-bridge.conflist': JSON.stringify(podNetwork(node.pods), undefined, 2),
    'containerd.toml': containerdConfig(layout.registry, snapshotter),
    'kubelet.yaml': JSON.stringify(kubeletConfig(layout, node), undefined, 2),
    'resolv.conf': 'nameserver 127.0.0.1\n',
    'node-init.sh': await readFile(new URL('node-init.sh', import.meta.url), 'utf8'),
  };
}

/** Writes them, and makes the folders that are laid over the host's. */
export async function writeNodeFiles(layout: Layout, node: NodeLayout): Promise<void> {
  for (const path of ['lib', 'log/pods', 'log/containers']) await mkdir(join(node.folder, path), {recursive: true});
  // An overlay cannot lie on another overlay, which is what a container's root usually is.
  const snapshotter = (await statfs(node.folder)).type === OVERLAYFS_MAGIC ? 'native' : 'overlayfs';
  for (const [path, text] of Object.entries(await nodeFiles(layout, node, snapshotter))) {
    await mkdir(dirname(join(node.folder, path)), {recursive: true});
    await writeFile(join(node.folder, path), text);
  }
}

function registryHost(registry: string): string {
  return `server = "http://${registry}"\n[host."http://${registry}"]\n  capabilities = ["pull", "resolve"]\n`;
}

function podNetwork(pods: string): unknown {
  const ipam = {type: 'host-local', ranges: [[{subnet: pods}]], routes: [{dst: '0.0.0.0/0'}]};
  return {
    cniVersion: '1.0.0',
    name: 'carrel',
    plugins: [
      {type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true, ipam},
      {type: 'portmap', capabilities: {portMappings: true}},
    ],
  };
}

function containerdConfig(registry: string, snapshotter: string): string {
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true # the machine may lack CAP_SYS_RESOURCE
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "${INSIDE}/cni"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "${snapshotter}"
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = "${INSIDE}/certs.d"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${registry}/carrel-cluster/pause:1"
`;
}

function kubeletConfig(layout: Layout, node: NodeLayout): unknown {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false, // runs on machines of both versions
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${node.cgroup}`,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    clusterDNS: [layout.dnsAddress],
    clusterDomain: 'cluster.local',
    authentication: {
      anonymous: {enabled: false},
      webhook: {enabled: true},
      x509: {clientCAFile: `${INSIDE}/pki/ca.crt`},
    },
    authorization: {mode: 'Webhook'},
    tlsCertFile: `${INSIDE}/pki/kubelet.crt`,
    tlsPrivateKeyFile: `${INSIDE}/pki/kubelet.key`,
    featureGates: {KubeletInUserNamespace: true}, // the machine may refuse some sysctls
    oomScoreAdj: 0,
    failSwapOn: false,
    resolvConf: `${INSIDE}/resolv.conf`,
    nodeLeaseDurationSeconds: 8, // with the controller manager's 10 s of grace: a lost node is seen soon
    nodeStatusUpdateFrequency: '5s',
    serializeImagePulls: false, // one silent registry must not hold up all other pods
    registryPullQPS: 0,
    imageGCHighThresholdPercent: 100, // the disk is the host's; it is not ours to judge
    evictionHard: {'nodefs.available': '1%', 'imagefs.available': '1%'},
  };
}

/** The cgroup hierarchies of this machine that a node needs a place in: one on version 2, one per controller on version 1. */
export async function cgroupRoots(): Promise<string[]> {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return ['/sys/fs/cgroup'];
  const mounts = await readFile('/proc/mounts', 'utf8');
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => fields[2] === 'cgroup' || fields[2] === 'cgroup2')
    .map((fields) => fields[1] ?? '')
    .filter((path) => path.startsWith('/sys/fs/cgroup/'));
}
