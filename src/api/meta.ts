/** Names that several processes and the chart share; nothing else spells these strings. */

export const GROUP = 'carrel.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Labels on everything that belongs to a Session or an Agent. */
export const LABEL_SESSION = 'carrel.dev/session';
export const LABEL_SESSION_UID = 'carrel.dev/session-uid';
export const LABEL_AGENT = 'carrel.dev/agent';
export const LABEL_AGENT_UID = 'carrel.dev/agent-uid';
/** `app.kubernetes.io/managed-by` value of every object that the controller makes. */
export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'carrel';

/** On an object named by an idempotency key: which class of caller made it, and the digest of its arguments. */
export const ANNOTATION_IDEMPOTENCY = 'carrel.dev/idempotency';
/** On a pod: the attempt it was made for. */
export const ANNOTATION_ATTEMPT = 'carrel.dev/attempt';
/** UID of the ServiceAccount that a pod was made with: its tokens are bound to it. */
export const ANNOTATION_ACCOUNT = 'carrel.dev/service-account-uid';
/**
 * On a Session that another Session started by its own token: the name of that one. `spec.requester` alone says only which
 * Session it belongs to: a person may name any that they may read.
 */
export const ANNOTATION_STARTED_BY = 'carrel.dev/started-by';

/** Prefix of the names of our pods and of the service accounts of sessions: on `exec`, a policy sees nothing but the name. */
export const POD_PREFIX = 'carrel-';

/** Field managers, one for each process. */
export const FIELD_MANAGER = {
  controller: 'carrel-controller',
  gateway: 'carrel-gateway',
  egress: 'carrel-egress',
  archive: 'carrel-archive',
} as const;

/** Audiences of projected and requested tokens. */
export const AUDIENCE = {
  mcp: 'carrel-mcp',
  runner: 'carrel-runner',
  egress: 'carrel-egress',
  archive: 'carrel-archive',
  people: 'carrel',
} as const;

/** Key in a Secret that binds its values to one origin: `https://host[:port]`. */
export const SECRET_ORIGIN_KEY = 'origin';

/** Longest name of an object of ours: children add a UID and a number and still fit a label and a pod name. */
export const MAX_NAME = 48;

/** First eight characters of a UID: enough to tell two objects of one name apart. */
export function uid8(uid: string): string {
  return uid.slice(0, 8);
}
