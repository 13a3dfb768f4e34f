// The only file where a cast may stand: JSON that the API server has validated becomes the type that its resource names.
import {isJson, type Json} from '../api/json.ts';
import type {KubeObject} from '../api/kube-object.ts';
import type {Cache} from './ports.ts';
import {apiVersionOf, type Resource} from './resource.ts';

/** A member as string, or ''. */
export function text(json: unknown, member: string): string {
  const value = isJson(json) ? json[member] : undefined;
  return typeof value === 'string' ? value : '';
}

/** A member as object, or an empty one. */
export function member(json: unknown, name: string): Json {
  const value = isJson(json) ? json[name] : undefined;
  return isJson(value) ? value : {};
}

/** A member as array, or an empty one. */
export function items(json: unknown, name: string): readonly unknown[] {
  const value = isJson(json) ? json[name] : undefined;
  return Array.isArray(value) ? value : [];
}

/**
 * Take parsed JSON as an object of this resource: checks identity, fills in apiVersion and kind (list items of built-in kinds
 * lack them) and drops managedFields (40 % of the bytes). Undefined when it is not an object of the API at all.
 */
export function asObject<T extends KubeObject>(resource: Resource<T>, json: unknown): T | undefined {
  const metadata = member(json, 'metadata');
  if (!isJson(json) || text(metadata, 'name') === '') return undefined;
  const {managedFields: _, ...kept} = metadata;
  return {...json, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: kept} as unknown as T;
}

/** The `status` member of any object, as plain JSON. */
export function statusOf(object: KubeObject): unknown {
  return (object as KubeObject & {status?: unknown}).status;
}

/** A cache found by the name of its resource holds objects of that resource's type. */
export function sameResource<T extends KubeObject>(
  _resource: Resource<T>,
  found: object | undefined,
): Cache<T> | undefined {
  return found as unknown as Cache<T> | undefined;
}
