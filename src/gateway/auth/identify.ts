import type {IncomingMessage} from 'node:http';
import {AUDIENCE} from '../../api/meta.ts';
import type {SessionObject} from '../../api/v1alpha1/index.ts';
import type {Caller, SessionCaller, UserCaller} from '../../domain/access/caller.ts';
import {Refusal} from '../../domain/refusal.ts';
import {isApiError} from '../../kube/errors.ts';
import type {Cache} from '../../kube/ports.ts';
import {type ReviewToken, serviceAccountOf, type TokenIdentity} from '../../kube/token-review.ts';
import {INDEX} from '../caches.ts';
import type {FindApiKey} from './api-keys.ts';
import {type Credential, readCredential} from './credential.ts';

/** Decide who calls, from the credential alone; throws a Refusal. */
export type Identify = (req: IncomingMessage) => Promise<Caller>;

/** What identification needs. */
export interface IdentifyParts {
  readonly reviewToken: ReviewToken;
  readonly findApiKey: FindApiKey;
  readonly sessions: Cache<SessionObject>;
  /** Audiences of people's tokens, beside `carrel`. */
  readonly audiences: readonly string[];
}

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
  if (key === undefined) throw refused('The key is not known here.');
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
 * the one that the Session has now: that is what fences an old attempt.
 */
async function bySession(parts: IdentifyParts, token: string): Promise<SessionCaller> {
  const identity = await review(parts, token, AUDIENCE.mcp);
  const {podUid, serviceAccount} = identity ?? {};
  if (podUid === undefined || serviceAccount === undefined) throw refused('The session token is not accepted.');
  if (!parts.sessions.synced())
    throw new Refusal('auth_unavailable', 'The gateway is still reading the Sessions; try again.');
  const session = parts.sessions
    .byIndex(INDEX.podUid, podUid)
    .find((s) => s.metadata.namespace === serviceAccount.namespace);
  if (session === undefined || session.status?.pod?.uid !== podUid)
    throw refused('The pod of this token is not the pod of any session now.');
  const {name, uid} = session.metadata;
  return {kind: 'session', namespace: serviceAccount.namespace, name, uid, podUid};
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
    throw new Refusal('auth_unavailable', 'The API server gave no verdict on the credential; try again.', {
      cause: error,
    });
  }
}

function refused(message: string): Refusal {
  return new Refusal('unauthorized', message);
}
