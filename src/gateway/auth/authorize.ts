import {LRUCache} from 'lru-cache';
import {GROUP} from '../../api/meta.ts';
import type {UserCaller} from '../../domain/access/caller.ts';
import type {Need} from '../../domain/access/need.ts';
import {Refusal} from '../../domain/refusal.ts';
import type {Clock} from '../../kube/clock.ts';
import {isApiError} from '../../kube/errors.ts';
import type {Client} from '../../kube/ports.ts';
import {SubjectAccessReviews} from '../../kube/reviews.ts';

/** Whether a Kubernetes user may do this in this namespace; throws `auth_unavailable` when there is no verdict. */
export type Authorize = (caller: UserCaller, namespace: string, need: Need) => Promise<boolean>;

/** An allowed right is trusted for so long; refusals are always asked anew, so that a new binding works at once. */
const TRUST_MS = 5_000;
const MAX_VERDICTS = 50_000;

/** Ask the API server by SubjectAccessReview. */
export function createAuthorizer({client, clock}: {client: Pick<Client, 'review'>; clock: Clock}): Authorize {
  const allowed = new LRUCache<string, number>({max: MAX_VERDICTS});
  return async (caller, namespace, need) => {
    const {user, groups, extra, uid} = caller;
    const {verb, resource, subresource, name} = need;
    const key = JSON.stringify([user, groups, extra, namespace, verb, resource, subresource, name]);
    if ((allowed.get(key) ?? 0) > clock.monotonic()) return true;
    const resourceAttributes = {namespace, verb, group: GROUP, resource, subresource, name};
    try {
      const verdict = await client.review(
        SubjectAccessReviews,
        {user, groups, extra, uid, resourceAttributes},
        {timeoutMs: 5_000},
      );
      if (verdict.allowed) allowed.set(key, clock.monotonic() + TRUST_MS);
      return verdict.allowed;
    } catch (error) {
      if (!isApiError(error)) throw error;
      throw new Refusal('auth_unavailable', 'The API server gave no verdict on this call; try again.', {cause: error});
    }
  };
}
