import {GROUP} from '../../api/meta.ts';

/** What a Kubernetes user must be allowed for a call, in RBAC's words. */
export interface Need {
  readonly verb: 'get' | 'list' | 'create' | 'patch';
  readonly resource: 'sessions' | 'turns' | 'questions' | 'agents';
  readonly subresource?: 'transcript' | undefined;
  readonly name?: string | undefined;
}

/** `create turns.carrel.dev`, `get sessions.carrel.dev/transcript "a"`: for messages. */
export function sayNeed(need: Need): string {
  const sub = need.subresource === undefined ? '' : `/${need.subresource}`;
  const name = need.name === undefined ? '' : ` "${need.name}"`;
  return `${need.verb} ${need.resource}.${GROUP}${sub}${name}`;
}
