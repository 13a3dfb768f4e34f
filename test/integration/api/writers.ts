import type {Json} from '../../../src/api/json.ts';
import {example, type KindName} from './examples.ts';

/** Who writes: two people, a service account of the namespace, and the platform. */
export type Who = 'alice' | 'bob' | 'robot' | 'platform';

/**
 * A write that somebody tries. `says` is '' when it must succeed; then `gives` is what the spec holds afterwards. NAMESPACE
 * and OBJECT stand for what they are called.
 */
export interface Write {
  readonly state: string;
  readonly who: Who;
  readonly kind: KindName;
  /** Made by the platform (or by `madeBy`) before. Absent: `spec` is created by `who`. */
  readonly before?: Json;
  readonly madeBy?: Who;
  /** Status that the platform wrote, with `before`. */
  readonly status?: Json;
  readonly spec?: Json;
  readonly annotations?: Json;
  /** Merge patch, with `before`. */
  readonly patch?: Json;
  readonly subresource?: 'status';
  readonly says: string;
  readonly gives?: Json;
}

const ROBOT = 'system:serviceaccount:NAMESPACE:robot';
const AUTHOR_SET = 'spec.author is set when the turn is created and never changed; leave it as it is';
const OWNER_SET = 'spec.owner is set when the session is created and never changed; leave it as it is';
const env = (...names: string[]) => names.map((name, at) => ({name: `V${at}`, secret: {name, key: 'k'}}));

export const WRITES: readonly Write[] = [
  {
    state: 'a person creates a turn without an author',
    who: 'alice',
    kind: 'Turn',
    says: '',
    gives: {author: {kind: 'Human', name: 'alice'}},
  },
  {
    state: 'a service account creates a turn without an author',
    who: 'robot',
    kind: 'Turn',
    says: '',
    gives: {author: {kind: 'System', name: ROBOT}},
  },
  {
    state: 'the platform states any author',
    who: 'platform',
    kind: 'Turn',
    spec: {author: {kind: 'Agent', name: 'first', session: 'first'}},
    says: '',
    gives: {author: {kind: 'Agent', name: 'first', session: 'first'}},
  },
  {
    state: 'a person states itself as author',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'alice'}},
    says: '',
  },
  {
    state: 'a person states another author',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'bob'}},
    says: 'spec.author.name must be alice, who creates the turn; leave spec.author out and it is filled in',
  },
  {
    state: 'a service account claims to be human',
    who: 'robot',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: ROBOT}},
    says: `spec.author.kind must be System for ${ROBOT} (Human is never a service account); leave spec.author out and it is filled in`,
  },
  {
    state: 'a person claims to act for a session',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'alice', session: 'first'}},
    says: 'spec.author.session is set by the platform only; leave spec.author out and it is filled in',
  },
  {
    state: 'a person claims to have come through the gateway',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'alice', channel: 'mcp'}},
    says: 'spec.author.channel is set by the platform only; leave spec.author out and it is filled in',
  },
  {
    state: 'a person puts itself over another author',
    who: 'bob',
    kind: 'Turn',
    before: {},
    madeBy: 'alice',
    patch: {spec: {author: {name: 'bob'}}},
    says: AUTHOR_SET,
  },
  {
    state: 'a person takes the author away',
    who: 'bob',
    kind: 'Turn',
    before: {},
    madeBy: 'alice',
    patch: {spec: {author: null}},
    says: AUTHOR_SET,
  },
  {
    state: 'a person stops the turn of another',
    who: 'bob',
    kind: 'Turn',
    before: {},
    madeBy: 'alice',
    patch: {spec: {stop: 'Withdraw'}},
    says: '',
    gives: {author: {kind: 'Human', name: 'alice'}, stop: 'Withdraw'},
  },
  {
    state: 'a person writes a status',
    who: 'alice',
    kind: 'Turn',
    before: {},
    patch: {status: {phase: 'Completed'}},
    subresource: 'status',
    says: 'status is written by the platform only; change spec instead',
  },
  {
    state: 'the platform writes a status',
    who: 'platform',
    kind: 'Turn',
    before: {},
    patch: {status: {phase: 'Queued'}},
    subresource: 'status',
    says: '',
  },

  {state: 'a person creates a session', who: 'alice', kind: 'Session', says: '', gives: {owner: 'alice'}},
  {
    state: 'the platform states any owner',
    who: 'platform',
    kind: 'Session',
    spec: {owner: 'alice', requester: {session: 'first', uid: 'u'}},
    says: '',
    gives: {owner: 'alice'},
  },
  {
    state: 'a person states another owner',
    who: 'alice',
    kind: 'Session',
    spec: {owner: 'bob'},
    says: 'spec.owner must be alice, who creates the session; leave it out and it is filled in',
  },
  {
    state: 'a person takes a session over',
    who: 'bob',
    kind: 'Session',
    before: {},
    madeBy: 'alice',
    patch: {spec: {owner: 'bob'}},
    says: OWNER_SET,
  },
  {
    state: 'a person takes the owner away',
    who: 'alice',
    kind: 'Session',
    before: {},
    madeBy: 'alice',
    patch: {spec: {owner: null}},
    says: OWNER_SET,
  },
  {
    state: 'a person changes the title of a session',
    who: 'bob',
    kind: 'Session',
    before: {},
    madeBy: 'alice',
    patch: {spec: {title: 't'}},
    says: '',
    gives: {owner: 'alice', title: 't'},
  },
  {
    state: 'a person claims that a session started another',
    who: 'alice',
    kind: 'Session',
    spec: {requester: {session: 'first', uid: 'u'}},
    says: 'spec.requester says below which session this one belongs; it is set by the platform only',
  },
  {
    state: 'a person forges the mark of an idempotent create',
    who: 'alice',
    kind: 'Session',
    annotations: {'carrel.dev/idempotency': 'x'},
    says: 'annotation carrel.dev/idempotency is written by the platform only; leave it as it is',
  },
  {
    state: 'a person creates a session in the name of another session',
    who: 'alice',
    kind: 'Session',
    annotations: {'carrel.dev/started-by': 'first'},
    says: 'annotation carrel.dev/started-by is written by the platform only; leave it as it is',
  },
  {
    state: 'a person says later that a session started another',
    who: 'alice',
    kind: 'Session',
    before: {},
    patch: {metadata: {annotations: {'carrel.dev/started-by': 'x'}}},
    says: 'annotation carrel.dev/started-by is written by the platform only; leave it as it is',
  },
  {
    state: 'a person annotates a session',
    who: 'alice',
    kind: 'Session',
    before: {},
    patch: {metadata: {annotations: {'example.com/mine': 'x'}}},
    says: '',
  },

  {state: 'an author names a Secret that it may read', who: 'alice', kind: 'Agent', spec: {env: env('mine')}, says: ''},
  {
    state: 'an author names a Secret that it may not read',
    who: 'alice',
    kind: 'Agent',
    spec: {env: env('mine', 'theirs')},
    says: 'alice may not read Secret theirs, and so may not name it in an Agent; ask for the right to get it, or name another',
  },
  {
    state: 'an author names one as the provider key',
    who: 'alice',
    kind: 'Agent',
    spec: {model: {name: 'm', dialect: 'Gemini', baseUrl: 'https://m.example', key: {secret: 'theirs', key: 'k'}}},
    says: 'alice may not read Secret theirs, and so may not name it in an Agent; ask for the right to get it, or name another',
  },
  {
    state: 'an author names one for pulling',
    who: 'alice',
    kind: 'Agent',
    spec: {imagePullSecrets: ['theirs']},
    says: 'alice may not read Secret theirs, and so may not name it in an Agent; ask for the right to get it, or name another',
  },
  {
    state: 'an author adds one later',
    who: 'alice',
    kind: 'Agent',
    before: {},
    patch: {spec: {env: env('theirs')}},
    says: 'alice may not read Secret theirs, and so may not name it in an Agent; ask for the right to get it, or name another',
  },
  {
    state: 'an author edits an Agent that names one already',
    who: 'alice',
    kind: 'Agent',
    before: {env: env('theirs')},
    patch: {spec: {description: 'edited'}},
    says: '',
    gives: {description: 'edited'},
  },
  {
    state: 'eight Secrets, all readable',
    who: 'platform',
    kind: 'Agent',
    spec: {env: env('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')},
    says: '',
  },
  {
    state: 'the eighth Secret is not readable',
    who: 'bob',
    kind: 'Agent',
    spec: {env: env('b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'theirs')},
    says: 'bob may not read Secret theirs, and so may not name it in an Agent; ask for the right to get it, or name another',
  },
  {
    state: 'nine Secrets',
    who: 'platform',
    kind: 'Agent',
    spec: {env: env('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')},
    says: 'an Agent may name at most 8 different Secrets (model.key, env and imagePullSecrets together)',
  },
];

/** The object that a row creates. */
export function objectOf(row: Write, name: string, spec: Json = {}): Json {
  const object = example(row.kind, name, spec);
  return row.annotations === undefined ? object : {...object, metadata: {name, annotations: row.annotations}};
}

/** What people and machines of the tests may do: everything with our kinds, and reading some Secrets. */
export function rights(namespace: string): Json[] {
  const rbac = 'rbac.authorization.k8s.io';
  const role = (name: string, ...rules: Json[]) => ({apiVersion: `${rbac}/v1`, kind: 'Role', metadata: {name}, rules});
  const bind = (name: string, ...subjects: Json[]) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: {name},
    roleRef: {apiGroup: rbac, kind: 'Role', name},
    subjects,
  });
  const user = (name: string) => ({apiGroup: rbac, kind: 'User', name});
  const secrets = (...names: string[]) => ({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: names,
    verbs: ['get'],
  });
  return [
    {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'robot'}},
    role('edit', {apiGroups: ['carrel.dev'], resources: ['*'], verbs: ['*']}),
    role('mine', secrets('mine')),
    role('many', secrets('b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7')),
    bind('edit', user('alice'), user('bob'), {kind: 'ServiceAccount', name: 'robot', namespace}),
    bind('mine', user('alice')),
    bind('many', user('bob')),
  ];
}
