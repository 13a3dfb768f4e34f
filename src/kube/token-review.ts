import {hash} from 'node:crypto';
import {LRUCache} from 'lru-cache';
import type {Clock} from './clock.ts';
import type {Client} from './ports.ts';
import {TokenReviews} from './reviews.ts';

/** Who a token belongs to, for one audience. */
export interface TokenIdentity {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** For pod-bound tokens. */
  readonly podUid: string | undefined;
  readonly podName: string | undefined;
  /** For service accounts. */
  readonly serviceAccount: {readonly namespace: string; readonly name: string} | undefined;
}

/** Undefined: the token is not accepted for that audience. Throws ApiError when no verdict could be made (answer 503). */
export type ReviewToken = (token: string, audience: string) => Promise<TokenIdentity | undefined>;

/** A verdict is trusted for so long; the fence against deleted pods is the comparison with the live pod UID, not this. */
const TRUST_MS = 10_000;
/** Refusals are kept shortly, so that a caller who repeats a bad token does not become load on the API server. */
const REFUSAL_MS = 2_000;
const MAX_TOKENS = 20_000;

type Verdict = {readonly identity: TokenIdentity | undefined; readonly until: number};

/** Review tokens with a bounded cache keyed by the hash of token and audience; equal reviews in flight are made once. */
export function createTokenReviewer(parts: {client: Pick<Client, 'review'>; clock: Clock}): ReviewToken {
  const cache = new LRUCache<string, Verdict>({max: MAX_TOKENS});
  const inFlight = new Map<string, Promise<TokenIdentity | undefined>>();
  return async (token, audience) => {
    const key = hash('sha256', `${audience}\0${token}`, 'base64');
    const known = cache.get(key);
    if (known !== undefined && known.until > parts.clock.monotonic()) return known.identity;
    const running = inFlight.get(key);
    if (running !== undefined) return running;
    const asked = review(parts.client, token, audience)
      .then((identity) => {
        const trust = identity === undefined ? REFUSAL_MS : TRUST_MS;
        cache.set(key, {identity, until: parts.clock.monotonic() + trust});
        return identity;
      })
      .finally(() => inFlight.delete(key));
    inFlight.set(key, asked);
    return asked;
  };
}

async function review(
  client: Pick<Client, 'review'>,
  token: string,
  audience: string,
): Promise<TokenIdentity | undefined> {
  const verdict = await client.review(TokenReviews, {token, audiences: [audience]}, {timeoutMs: 5_000});
  if (!verdict.authenticated || !verdict.audiences.includes(audience)) return undefined;
  return {
    username: verdict.username,
    uid: verdict.uid,
    groups: verdict.groups,
    extra: verdict.extra,
    podUid: verdict.extra['authentication.kubernetes.io/pod-uid']?.[0],
    podName: verdict.extra['authentication.kubernetes.io/pod-name']?.[0],
    serviceAccount: serviceAccountOf(verdict.username),
  };
}

/** `system:serviceaccount:<namespace>:<name>`, taken apart. */
export function serviceAccountOf(username: string): {namespace: string; name: string} | undefined {
  const [system, kind, namespace, name, ...rest] = username.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || rest.length > 0) return undefined;
  return namespace && name ? {namespace, name} : undefined;
}
