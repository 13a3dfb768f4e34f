import type {KubeObject} from '../api/kube-object.ts';

/** How the API server calls one kind, and which TypeScript type its objects have. */
export interface Resource<T extends KubeObject> {
  /** API group, '' for core. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: carries the type only. */
  readonly objectType?: T;
}

/** Describe a kind; objects of it are trusted as typed, because the server has validated them. */
export function kubeResource<T extends KubeObject>(names: Omit<Resource<T>, 'objectType'>): Resource<T> {
  return Object.freeze({...names});
}

/** `sessions.carrel.dev`, `pods`: unique name of a resource, used in logs, metrics and registries. */
export function resourceName(resource: Resource<KubeObject>): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `carrel.dev/v1alpha1`, `v1`. */
export function apiVersionOf(resource: Resource<KubeObject>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
