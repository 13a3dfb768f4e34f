import type {RunnerStatus, SessionObject} from '../../api/v1alpha1/index.ts';
import {isApiError} from '../../kube/errors.ts';
import {Sessions} from '../../kube/kinds.ts';
import type {Client} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';

const TRIES = 3;

/** What is to be written in the place of `before`, or why nothing is. */
export type NextRunner = (before: RunnerStatus | undefined) => {write: RunnerStatus} | Applied;

/** Write `status.runner`, conditional on the pod. The Session is read live: the name of the conversation must not get lost. */
export async function writeRunner(
  client: Pick<Client, 'find' | 'patchStatusJson'>,
  {pod, session}: Bound,
  next: NextRunner,
): Promise<Applied> {
  const ref = {namespace: session.metadata.namespace, name: session.metadata.name};
  for (let attempt = 1; ; attempt++) {
    const live = await client.find(Sessions, ref);
    if (!isPresent(live, session.metadata.uid, pod.uid)) return dropped('fenced');
    const before = live?.status?.runner;
    const decided = next(before);
    if (!('write' in decided)) return decided;
    try {
      await client.patchStatusJson(Sessions, ref, {
        uid: session.metadata.uid,
        // The second test: of two writers that overtake each other, the later one starts from what the first has written.
        tests: {'/status/pod/uid': pod.uid, '/status/runner': before ?? null},
        ops: [{op: 'add', path: '/status/runner', value: decided.write}],
      });
      return APPLIED;
    } catch (error) {
      if (isApiError(error, 'NotFound', 'NamespaceNotFound')) return dropped('session_gone');
      // It breaks the schema and will for ever: sent again and again, it would hold up every later event, the end of the turn too.
      if (isApiError(error, 'Invalid')) return dropped('invalid');
      if (!isApiError(error, 'TestFailed') || attempt >= TRIES) throw error;
    }
  }
}

function isPresent(live: SessionObject | undefined, sessionUid: string, podUid: string): boolean {
  return live?.metadata.uid === sessionUid && live.status?.pod?.uid === podUid;
}
