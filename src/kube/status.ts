import {isDeepStrictEqual} from 'node:util';
import {isJson, type Json} from '../api/json.ts';
import type {KubeObject} from '../api/kube-object.ts';
import type {Client, WriteOptions} from './ports.ts';
import type {Resource} from './resource.ts';
import {statusOf} from './typed.ts';

/** One status write of a reconcile. */
export interface StatusWrite<T extends KubeObject> {
  readonly write: Pick<Client, 'patchStatusMerge'>;
  readonly resource: Resource<T>;
  /** As read: its resourceVersion guards the patch, its status is what is compared. */
  readonly object: T;
  /** The whole wanted status; a field that is missing or undefined here is removed. */
  readonly status: object;
  readonly options?: WriteOptions;
}

/**
 * Write the status once, as a merge patch of what differs, and only when something differs; returns the object as it is then.
 * `Conflict` when the object has changed since it was read: throw it on, the retry reads again.
 */
export async function writeStatus<T extends KubeObject>(write: StatusWrite<T>): Promise<T> {
  const {resource, object} = write;
  const patch = mergeDiff(statusOf(object), write.status);
  if (patch === undefined) return object;
  const {namespace, name, resourceVersion} = object.metadata;
  return write.write.patchStatusMerge(resource, {namespace, name}, {resourceVersion, status: patch}, write.options);
}

/** The merge patch that leads from one JSON object to another (null removes); undefined when they are equal. Lists are replaced whole. */
export function mergeDiff(from: unknown, to: object): Json | undefined {
  const old: Json = isJson(from) ? from : {};
  const patch: Record<string, unknown> = {};
  const wanted: Json = {...to};
  for (const name of Object.keys(old)) if (own(wanted, name) === undefined) patch[name] = null;
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const before = own(old, name);
    if (isJson(value) && isJson(before)) {
      const inner = mergeDiff(before, value);
      if (inner !== undefined) patch[name] = inner;
    } else if (!isDeepStrictEqual(before, plain(value))) {
      patch[name] = value;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

// `constructor` and the like are names as any other.
function own(json: Json, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

// What JSON makes of it: undefined members vanish, so they may not count as a difference.
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
