import {isJson} from '../api/json.ts';
import type {ReviewKind} from './ports.ts';
import {items, member, text} from './typed.ts';

/** Who a token belongs to, as the API server says. */
export interface TokenVerdict {
  readonly authenticated: boolean;
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** For pod-bound tokens `authentication.kubernetes.io/pod-uid` and `pod-name`, each a list. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** The overlap of the asked audiences with the token's: compare it, the HTTP code says nothing. */
  readonly audiences: readonly string[];
  /** Why not; '' when authenticated. May not be shown to the caller. */
  readonly error: string;
}

/** authentication.k8s.io/v1 TokenReview; ask for one audience at a time. */
export const TokenReviews: ReviewKind<{token: string; audiences?: readonly string[]}, TokenVerdict> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  parse(status) {
    const user = member(status, 'user');
    return {
      authenticated: isJson(status) && status['authenticated'] === true,
      username: text(user, 'username'),
      uid: text(user, 'uid'),
      groups: strings(items(user, 'groups')),
      extra: Object.fromEntries(
        Object.keys(member(user, 'extra')).map((k) => [k, strings(items(member(user, 'extra'), k))]),
      ),
      audiences: strings(items(status, 'audiences')),
      error: text(status, 'error'),
    };
  },
};

/** What a SubjectAccessReview asks. */
export interface AccessQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly resourceAttributes: {
    readonly namespace?: string | undefined;
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly subresource?: string | undefined;
    readonly name?: string | undefined;
  };
}

/** The answer; `allowed` false also when the authorizer could not decide. */
export interface AccessVerdict {
  readonly allowed: boolean;
  readonly reason: string;
}

/** authorization.k8s.io/v1 SubjectAccessReview. */
export const SubjectAccessReviews: ReviewKind<AccessQuestion, AccessVerdict> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  parse: (status) => ({
    allowed: isJson(status) && status['allowed'] === true && status['denied'] !== true,
    reason: text(status, 'reason') || text(status, 'evaluationError'),
  }),
};

function strings(list: readonly unknown[]): string[] {
  return list.filter((entry) => typeof entry === 'string');
}
