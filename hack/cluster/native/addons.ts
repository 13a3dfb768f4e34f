import {createHash} from 'node:crypto';
import type {Layout} from './layout.ts';

type Images = {coredns: string; provisioner: string; busybox: string};

const rbac = 'rbac.authorization.k8s.io';
const read = ['get', 'list', 'watch'];
const DNS_NAMESPACE = 'kube-system';
const VOLUME_NAMESPACE = 'local-path-storage';

/** What runs inside the cluster from its start: DNS, volumes, and the rights of the NetworkPolicy agent. */
export function addons(layout: Layout, images: Images): {apiVersion: 'v1'; kind: 'List'; items: unknown[]} {
  return {apiVersion: 'v1', kind: 'List', items: [...networkPolicyAgent(), ...dns(layout, images), ...volumes(images)]};
}

/** The Deployments among them, as `namespace/name`. */
export const ADDON_DEPLOYMENTS = [`${DNS_NAMESPACE}/coredns`, `${VOLUME_NAMESPACE}/local-path-provisioner`] as const;

function clusterRole(name: string, rules: unknown[], subject: unknown): unknown[] {
  return [
    {apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: {name}, rules},
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: {name},
      roleRef: {apiGroup: rbac, kind: 'ClusterRole', name},
      subjects: [subject],
    },
  ];
}

function networkPolicyAgent(): unknown[] {
  const rules = [
    {apiGroups: [''], resources: ['namespaces', 'pods', 'services', 'nodes', 'endpoints'], verbs: read},
    {apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: read},
    {apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read},
  ];
  return clusterRole('system:kube-router', rules, {apiGroup: rbac, kind: 'User', name: 'system:kube-router'});
}

// Two servers: inside one, `template` would answer before `kubernetes` is asked. Names of the world do not exist here.
const COREFILE = `cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {
  errors
  ready
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    ttl 5
  }
  cache 5
}
.:53 {
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;

function dns(layout: Layout, images: Images): unknown[] {
  const metadata = {name: 'coredns', namespace: DNS_NAMESPACE};
  const labels = {'k8s-app': 'kube-dns'};
  const rules = [
    {apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch']},
    {apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch']},
  ];
  const container = {
    name: 'coredns',
    image: images.coredns,
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [
      {name: 'dns', containerPort: 53, protocol: 'UDP'},
      {name: 'dns-tcp', containerPort: 53},
    ],
    readinessProbe: {httpGet: {path: '/ready', port: 8181}, periodSeconds: 2},
    resources: {requests: {cpu: '10m', memory: '32Mi'}, limits: {memory: '128Mi'}},
    volumeMounts: [{name: 'config', mountPath: '/etc/coredns'}],
  };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: {matchLabels: labels},
  };
  const pod = {
    serviceAccountName: 'coredns',
    priorityClassName: 'system-cluster-critical',
    dnsPolicy: 'Default',
    topologySpreadConstraints: [spread],
    containers: [container],
    volumes: [{name: 'config', configMap: {name: 'coredns'}}],
  };
  return [
    {apiVersion: 'v1', kind: 'ServiceAccount', metadata},
    ...clusterRole('system:coredns', rules, {kind: 'ServiceAccount', ...metadata}),
    {apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {Corefile: COREFILE}},
    deployment(metadata, {
      replicas: 2,
      labels,
      pod: {...pod, containers: [{...container, env: [{name: 'COREFILE_HASH', value: hash(COREFILE)}]}]},
    }),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name: 'kube-dns', namespace: DNS_NAMESPACE, labels},
      spec: {
        clusterIP: layout.dnsAddress,
        selector: labels,
        ports: [
          {name: 'dns', port: 53, targetPort: 53, protocol: 'UDP'},
          {name: 'dns-tcp', port: 53, targetPort: 53, protocol: 'TCP'},
        ],
      },
    },
  ];
}

/** A changed configuration is a changed pod, so it is read. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function deployment(
  metadata: {name: string; namespace: string},
  part: {replicas: number; labels: Record<string, string>; pod: unknown},
): unknown {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: part.replicas,
      minReadySeconds: 1, // a process that ends at once is not available
      selector: {matchLabels: part.labels},
      template: {metadata: {labels: part.labels}, spec: part.pod},
    },
  };
}

function helperPod(image: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'helper-pod'},
    spec: {
      priorityClassName: 'system-node-critical',
      tolerations: [{key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule'}],
      containers: [{name: 'helper-pod', image, imagePullPolicy: 'IfNotPresent'}],
    },
  });
}

function volumes(images: Images): unknown[] {
  const metadata = {name: 'local-path-provisioner', namespace: VOLUME_NAMESPACE};
  const labels = {app: 'local-path-provisioner'};
  const rules = [
    {apiGroups: [''], resources: ['nodes', 'persistentvolumeclaims', 'configmaps', 'pods', 'pods/log'], verbs: read},
    {apiGroups: [''], resources: ['persistentvolumes'], verbs: [...read, 'create', 'patch', 'update', 'delete']},
    {apiGroups: [''], resources: ['pods'], verbs: ['create', 'patch', 'update', 'delete']},
    {apiGroups: [''], resources: ['events'], verbs: ['create', 'patch']},
    {apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: read},
  ];
  const paths = [{node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: ['/var/lib/volumes']}];
  const container = {
    name: 'provisioner',
    image: images.provisioner,
    args: ['start', '--config', '/etc/config/config.json', '--service-account-name', metadata.name],
    env: [
      {name: 'POD_NAMESPACE', valueFrom: {fieldRef: {fieldPath: 'metadata.namespace'}}},
      {name: 'CONFIG_MOUNT_PATH', value: '/etc/config/'},
    ],
    volumeMounts: [{name: 'config', mountPath: '/etc/config'}],
  };
  const pod = {
    serviceAccountName: metadata.name,
    containers: [container],
    volumes: [{name: 'config', configMap: {name: 'local-path-config'}}],
  };
  const script = (line: string) => `#!/bin/sh\nset -eu\n${line}\n`;
  return [
    {apiVersion: 'v1', kind: 'Namespace', metadata: {name: VOLUME_NAMESPACE}},
    {apiVersion: 'v1', kind: 'ServiceAccount', metadata},
    ...clusterRole(metadata.name, rules, {kind: 'ServiceAccount', ...metadata}),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'local-path-config', namespace: VOLUME_NAMESPACE},
      data: {
        'config.json': JSON.stringify({nodePathMap: paths}),
        setup: script('mkdir -m 0777 -p "$VOL_DIR"'),
        teardown: script('rm -rf "$VOL_DIR"'),
        'helperPod.yaml': helperPod(images.busybox),
      },
    },
    deployment(metadata, {replicas: 1, labels, pod}),
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: 'local-path',
        annotations: {
          'storageclass.kubernetes.io/is-default-class': 'true',
          defaultVolumeType: 'local', // unlike hostPath it honours fsGroup, mount options and ReadWriteOncePod
        },
      },
      provisioner: 'rancher.io/local-path',
      volumeBindingMode: 'WaitForFirstConsumer',
      reclaimPolicy: 'Delete',
    },
  ];
}
