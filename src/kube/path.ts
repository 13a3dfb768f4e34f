import type {KubeObject, ObjectRef} from '../api/kube-object.ts';
import type {Selection} from './ports.ts';
import {type Resource, resourceName} from './resource.ts';

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path of a whole collection, of all namespaces where none is given. */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string | undefined): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const within = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}/${resource.version}${within}/${resource.plural}`;
}

/** Path of one object; a namespaced kind without a namespace is a programming error and throws. */
export function objectPath(resource: Resource<KubeObject>, ref: ObjectRef, subresource?: 'status'): string {
  if (ref.name === '') throw new Error(`${resourceName(resource)}: a name is required`);
  const path = `${collectionPath(resource, requireNamespace(resource, ref))}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The namespace to use for this ref: undefined for cluster-scoped kinds, never missing for others. */
export function requireNamespace(resource: Resource<KubeObject>, ref: ObjectRef): string | undefined {
  if (!resource.namespaced) return undefined;
  if (ref.namespace === undefined || ref.namespace === '') {
    throw new Error(`${resourceName(resource)} ${ref.name}: a namespace is required`);
  }
  return ref.namespace;
}

/** Path with its query. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const encoded = parameters.toString();
  return encoded === '' ? path : `${path}?${encoded}`;
}

/** The query of a selection. */
export function selectionQuery(selection: Selection): Query {
  return {labelSelector: selection.labelSelector, fieldSelector: selection.fieldSelector};
}

/** `ns/name`, or `name` for cluster-scoped objects: the key of stores and queues. */
export function refKey(ref: ObjectRef): string {
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}
