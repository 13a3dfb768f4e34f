/**
 * Between the runner and the egress relay: `CONNECT host:port` with `Proxy-Authorization: Bearer <token of audience
 * carrel-egress>` and one purpose. Only the runner holds the token, so only it can say the purpose. A refusal is a
 * status other than 200 with a JSON body `{code, message}`.
 */

/** Name of the header that says what a connection is for. */
export const PURPOSE_HEADER = 'carrel-purpose';

/** `model` reaches the revision's model origin only; `agent` reaches the hosts that the Agent lists. */
export const PURPOSE = {model: 'model', agent: 'agent'} as const;
