import type {IncomingMessage} from 'node:http';
import {AUDIENCE} from '../../api/meta.ts';
import type {Caller, SessionCaller, UserCaller} from '../../domain/access/caller.ts';
import {Refusal} from '../../domain/refusal.ts';
import {isApiError} from '../../kube/errors.ts';
import {type ReviewToken, serviceAccountOf, type TokenIdentity} from '../../kube/token-review.ts';
import {INDEX} from '../caches.ts';
import type {FindApiKey} from './api-keys.ts';
import {type BindingParts, bind, podIn} from './binding.ts';
import {type Credential, readCredential} from './credential.ts';

/** Decide who calls, from the credential alone; throws a Refusal. */
export type Identify = (req: IncomingMessage) => Promise<Caller>;

/** What identification needs. */
export interface IdentifyParts extends BindingParts {
  readonly reviewToken: ReviewToken;
  readonly findApiKey: FindApiKey;
  /** Audiences of people's tokens, beside `carrel`. */
  readonly audiences: readonly string[];
  /** Milliseconds that the cache may be behind a pod that was just started; default 2 s. */
  readonly lagMs?: number;
}

const LAG_MS = 2_000;

/** The one place where credentials become callers. */
export function createIdentify(parts: IdentifyParts): Identify {
  return async (req) => {
    const credential = readCredential(req);
    if (credential.kind === 'key') return await byKey(parts, credential.key);
    return credential.audiences.includes(AUDIENCE.mcp)
      ? await bySession(parts, credential.token)
      : await byUser(parts, credential);
  };
}

async function byKey(parts: IdentifyParts, presented: string): Promise<UserCaller> {
  const key = await parts.findApiKey(presented);
  if (key === undefined) throw refused('The key is not known here; a new one may take two minutes to arrive.');
  const {namespace, serviceAccount, name} = key;
  return {
    kind: 'key',
    user: `system:serviceaccount:${namespace}:${serviceAccount}`,
    uid: undefined,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: {},
    home: namespace,
    keyName: name,
  };
}

/**
 * A session's token. The review alone says yes for up to 10 s after a pod was deleted by force, so the pod must also be
 * the one that the Session has now: that is what fences an old attempt. What the call may do is then read from the cache.
 */
async function bySession(parts: IdentifyParts, token: string): Promise<SessionCaller> {
  const pod = podIn(await review(parts, token, AUDIENCE.mcp));
  if (pod === undefined) throw refused('The session token is not accepted.');
  const bound = await bind(parts, pod);
  if (bound === 'fenced') throw refused('The pod of this token is not the pod of any session now.');
  if (bound === 'early') throw unavailable('The Session does not name the pod of this token yet; try again.');
  if (bound === 'no_verdict') throw unavailable('The Session of this token could not be read now; try again.');
  const inCache = () => parts.sessions.byIndex(INDEX.podUid, pod.uid)[0];
  if ((await parts.sessions.waitUntil(inCache, {timeoutMs: parts.lagMs ?? LAG_MS})) === undefined)
    throw unavailable('This gateway has not seen the pod of this token yet; try again.');
  const {name, uid} = bound.session.metadata;
  return {kind: 'session', namespace: pod.namespace, name, uid, podUid: pod.uid};
}

async function byUser(
  parts: IdentifyParts,
  {token, audiences}: Extract<Credential, {kind: 'token'}>,
): Promise<UserCaller> {
  const wanted = [AUDIENCE.people, ...parts.audiences].find((a) => audiences.includes(a));
  if (wanted === undefined) {
    throw refused(
      `The token has no audience that is accepted here; make one with: kubectl create token <service account> --audience=${AUDIENCE.people}`,
    );
  }
  const identity = await review(parts, token, wanted);
  if (identity === undefined) throw refused('The token is not accepted: it has expired, or its owner is gone.');
  const {username, uid, groups, extra} = identity;
  return {
    kind: 'user',
    user: username,
    uid,
    groups,
    extra,
    home: serviceAccountOf(username)?.namespace,
    keyName: undefined,
  };
}

async function review(parts: IdentifyParts, token: string, audience: string): Promise<TokenIdentity | undefined> {
  try {
    return await parts.reviewToken(token, audience);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw unavailable('The API server gave no verdict on the credential; try again.', error);
  }
}

function refused(message: string): Refusal {
  return new Refusal('unauthorized', message);
}

function unavailable(message: string, cause?: unknown): Refusal {
  return new Refusal('auth_unavailable', message, {cause});
}
