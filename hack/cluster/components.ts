/** A Go module under `go/` that is built once per version into a folder of the cache. */
export type Component = {
  name: string;
  /** What `go build` is asked for: the module itself, or the tools that its go.mod names. */
  target: '.' | 'tool';
  ldflags: string;
  /** Other names that a multi-call binary is reached by. */
  links?: readonly string[];
};

const STRIP = '-s -w';
const KUBERNETES = 'v1.36.3';

const KUBERNETES_VERSION = [
  `k8s.io/component-base/version.gitVersion=${KUBERNETES}`,
  'k8s.io/component-base/version.gitMajor=1',
  'k8s.io/component-base/version.gitMinor=36',
  'k8s.io/component-base/version.gitTreeState=clean',
  `k8s.io/client-go/pkg/version.gitVersion=${KUBERNETES}`,
].map((setting) => `-X ${setting}`);

/** Every binary that a native cluster is made of, in the order of building: the longest first. */
export const COMPONENTS = [
  {
    name: 'kubernetes',
    target: '.',
    ldflags: [STRIP, ...KUBERNETES_VERSION].join(' '),
    links: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'],
  },
  {name: 'crane', target: 'tool', ldflags: STRIP},
  {name: 'containerd', target: 'tool', ldflags: STRIP},
  {name: 'coredns', target: '.', ldflags: STRIP},
  {name: 'kube-router', target: 'tool', ldflags: STRIP},
  {name: 'local-path-provisioner', target: 'tool', ldflags: STRIP},
  {name: 'helm', target: 'tool', ldflags: STRIP},
  {name: 'registry', target: '.', ldflags: STRIP},
  {name: 'pause', target: '.', ldflags: STRIP},
] as const satisfies readonly Component[];

/** The name of one component. */
export type ComponentName = (typeof COMPONENTS)[number]['name'];
