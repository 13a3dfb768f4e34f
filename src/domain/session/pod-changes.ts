import type {Pod} from '../../api/kube-pod.ts';
import {CONTAINER, RUNTIME_IMAGE_ENV, VOLUME} from '../../api/pod.ts';
import type {RevisionData} from '../agent/revision.ts';

/**
 * What somebody changed on our pod after it was made. The reply to the POST was compared in full; later the API lets
 * nothing of a pod be changed but images, debug containers, resources, tolerations and metadata.
 */
export function laterChanges(pod: Pod, sessionUid: string, revision: RevisionData): string[] {
  const changes: string[] = [];
  const added = (pod.spec.ephemeralContainers ?? []).map((c) => c.name);
  if (added.length > 0) changes.push(`debug containers were added: ${added.join(', ')}`);
  if (!(pod.metadata.ownerReferences ?? []).some((o) => o.uid === sessionUid)) changes.push('the owner was removed');
  for (const {name, image} of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const asked = askedImage(name, pod, revision);
    if (image !== asked) changes.push(`the image of ${name} is ${image} instead of ${asked}`);
  }
  return changes;
}

/** The image that a container of this pod was made with, from what nobody can change: the revision, a volume, an environment. */
function askedImage(container: string, pod: Pod, {spec}: RevisionData): string | undefined {
  const volume = pod.spec.volumes?.find((v) => v.name === VOLUME.runtime)?.image?.reference;
  if (container === CONTAINER.agent) return spec.image;
  if (container === CONTAINER.seed && volume === undefined) return spec.workspace.image;
  if (volume !== undefined) return volume;
  const copy = pod.spec.initContainers?.find((c) => c.name === CONTAINER.runtime);
  // A pod of an earlier release names it nowhere else.
  return copy?.env?.find((e) => e.name === RUNTIME_IMAGE_ENV)?.value ?? copy?.image;
}
