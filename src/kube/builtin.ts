import type {
  ConfigMap,
  ControllerRevision,
  KubeEvent,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolumeClaim,
  ServiceAccount,
  ServiceCidr,
} from '../api/kube-core.ts';
import type {KubeObject} from '../api/kube-object.ts';
import type {Pod} from '../api/kube-pod.ts';
import {kubeResource, type Resource} from './resource.ts';

const core = <T extends KubeObject>(kind: string, plural: string, namespaced = true): Resource<T> =>
  kubeResource<T>({group: '', version: 'v1', kind, plural, namespaced});

/** core/v1 pods. */
export const Pods = core<Pod>('Pod', 'pods');
/** core/v1 persistentvolumeclaims. */
export const PersistentVolumeClaims = core<PersistentVolumeClaim>('PersistentVolumeClaim', 'persistentvolumeclaims');
/** core/v1 serviceaccounts. */
export const ServiceAccounts = core<ServiceAccount>('ServiceAccount', 'serviceaccounts');
/** core/v1 configmaps. */
export const ConfigMaps = core<ConfigMap>('ConfigMap', 'configmaps');
/** core/v1 namespaces. */
export const Namespaces = core<Namespace>('Namespace', 'namespaces', false);
/** core/v1 nodes. */
export const Nodes = core<Node>('Node', 'nodes', false);
/** apps/v1 controllerrevisions. */
export const ControllerRevisions = kubeResource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
});
/** networking.k8s.io/v1 networkpolicies. */
export const NetworkPolicies = kubeResource<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
});
/** networking.k8s.io/v1 servicecidrs. */
export const ServiceCidrs = kubeResource<ServiceCidr>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  namespaced: false,
});
/** coordination.k8s.io/v1 leases. */
export const Leases = kubeResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
});
/** events.k8s.io/v1 events. */
export const Events = kubeResource<KubeEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
});
