import type {Pod} from '../../api/kube-pod.ts';
import {CONTAINER, VOLUME} from '../../api/pod.ts';
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
  const agent = pod.spec.containers.find((c) => c.name === CONTAINER.agent);
  if (agent?.image !== revision.spec.image)
    changes.push(`the image of ${CONTAINER.agent} is ${agent?.image ?? 'gone'}`);
  const runtime = pod.spec.volumes?.find((v) => v.name === VOLUME.runtime)?.image?.reference;
  const runner = pod.spec.initContainers?.find((c) => c.name === CONTAINER.runner)?.image;
  if (runtime !== undefined && runner !== runtime)
    changes.push(`the image of ${CONTAINER.runner} is ${runner ?? 'gone'}`);
  return changes;
}
