import type {KubeObject} from '../api/kube-object.ts';
import {wakeSides} from '../kube/controller.ts';
import type {AnyWatch, Key} from '../kube/controller-ports.ts';
import type {CachedReader, Change} from '../kube/ports.ts';
import type {Resource} from '../kube/resource.ts';

/** Changes of another kind that wake keys, without those that nobody needs to look at. */
export interface Wake<U extends KubeObject> {
  resource: Resource<U>;
  /** Asked for changes only; removals always count. */
  changed(old: U, now: U): boolean;
  /** Asked for additions; all count if absent. */
  added?(object: U, read: CachedReader): boolean;
  keys(object: U, read: CachedReader): readonly Key[];
}

/** A watch that lets echoes of our own writes and changes without meaning pass by: each reconcile costs. */
export function wakeOn<U extends KubeObject>({resource, changed, added, keys}: Wake<U>): AnyWatch {
  return {
    attach: (read, wake) =>
      read.of(resource).subscribe((change) => {
        if (!matters(change, changed)) return;
        if (change.old === undefined && change.new !== undefined && added?.(change.new, read) === false) return;
        wakeSides(change, (side) => keys(side, read), wake);
      }),
  };
}

/** True for additions, removals, and changes that `changed` says matter. */
export function matters<U extends KubeObject>(change: Change<U>, changed: (old: U, now: U) => boolean): boolean {
  return change.old === undefined || change.new === undefined || changed(change.old, change.new);
}

/** Spec edited, deletion begun, or another object under the same name: what people do. */
export function askedFor(old: KubeObject, now: KubeObject): boolean {
  const [a, b] = [old.metadata, now.metadata];
  return a.uid !== b.uid || a.generation !== b.generation || a.deletionTimestamp !== b.deletionTimestamp;
}
