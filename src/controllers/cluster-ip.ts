import type {KubeObject} from '../api/kube-object.ts';
import type {CachedReader} from '../kube/ports.ts';
import {kubeResource} from '../kube/resource.ts';

/** core/v1 Service, as far as it is read here. */
export interface ClusterAddress extends KubeObject {
  readonly spec: {readonly clusterIP?: string | undefined};
}

/** core/v1 services. */
export const ClusterAddresses = kubeResource<ClusterAddress>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
});

/** Names of the two Services that session pods are told the addresses of. */
export interface Endpoints {
  namespace: string;
  gateway: string;
  egress: string;
}

/** Cluster addresses of gateway and egress relay; undefined until both have one. */
export function addressesOf(
  read: CachedReader,
  {namespace, gateway, egress}: Endpoints,
): {gateway: string; egress: string} | undefined {
  const cache = read.of(ClusterAddresses);
  const at = (name: string) => {
    const address = cache.get({namespace, name})?.spec.clusterIP;
    return address === undefined || address === '' || address === 'None' ? undefined : address;
  };
  const [g, e] = [at(gateway), at(egress)];
  return g === undefined || e === undefined ? undefined : {gateway: g, egress: e};
}
