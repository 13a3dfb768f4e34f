import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {waitFor} from '../../../hack/cluster/wait.ts';
import type {Json} from '../../../src/api/json.ts';
import {items, member, text} from '../../../src/kube/typed.ts';
import {example} from '../api/examples.ts';
import {type ApiPlace, GATEWAY, makeApiPlace} from '../api/place.ts';
import {renderChart} from '../api/policies.ts';

const ROLES = ['view', 'edit', 'admin', 'carrel-view', 'carrel-edit'] as const;
type Role = (typeof ROLES)[number];
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'patch', 'update'];
const READER = {agents: READ, questions: READ, sessions: READ, turns: READ};
const EDITOR = {
  agents: [...READ, ...WRITE].sort(),
  questions: ['delete', 'get', 'list', 'patch', 'update', 'watch'],
  sessions: [...READ, ...WRITE].sort(),
  'sessions/transcript': ['get'],
  turns: [...READ, ...WRITE].sort(),
};

let place: ApiPlace;
beforeAll(async () => {
  place = await makeApiPlace('people');
  for (const role of ROLES)
    await place.kubectl(['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${userOf(role)}`]);
  await place.kubectl([...GATEWAY, 'create', '-f', '-'], example('Question', 'asked'));
  for (const role of ROLES)
    await waitFor(`the binding to ${role} to count`, {timeoutMs: 60_000}, async () =>
      'sessions' in (await rightsOf(role)) ? true : undefined,
    );
});
afterAll(() => place?.remove());

function userOf(role: Role): string {
  return `${role}-${place.namespace}`;
}

/** What makes kubectl act as the person who has this role here. */
function as(role: Role): string[] {
  return [`--as=${userOf(role)}`, '--as-group=system:authenticated'];
}

/** Verbs of a role on each of our resources, as these rules give them. */
function verbsOf(rules: readonly unknown[]): Record<string, string[]> {
  const all = new Map<string, Set<string>>();
  for (const rule of rules.filter((one) => items(one, 'apiGroups').includes('carrel.dev'))) {
    for (const resource of items(rule, 'resources').map(String)) {
      const verbs = items(rule, 'verbs').map(String);
      all.set(resource, new Set([...(all.get(resource) ?? []), ...verbs]));
    }
  }
  return Object.fromEntries([...all].map(([resource, verbs]) => [resource, [...verbs].sort()]));
}

/** What the API server says to a person who asks for their own rights. */
async function review(
  role: Role,
  kind: 'SelfSubjectRulesReview' | 'SelfSubjectAccessReview',
  spec: Json,
): Promise<Json> {
  // kubectl would look for the kind among the CRDs, which these people may not list.
  const create = [...as(role), 'create', '--validate=false', '-f', '-', '-o', 'json'];
  const said: unknown = JSON.parse(await place.kubectl(create, {apiVersion: 'authorization.k8s.io/v1', kind, spec}));
  return member(said, 'status');
}

/** Everything that this person may do to our kinds here. */
async function rightsOf(role: Role): Promise<Record<string, string[]>> {
  const status = await review(role, 'SelfSubjectRulesReview', {namespace: place.namespace});
  return verbsOf(items(status, 'resourceRules'));
}

/** Whether this person may do this here. */
async function may(role: Role, verb: string, resource: string, subresource: string): Promise<unknown> {
  const resourceAttributes = {namespace: place.namespace, group: 'carrel.dev', verb, resource, subresource};
  return (await review(role, 'SelfSubjectAccessReview', {resourceAttributes}))['allowed'];
}

describe('people with a role', () => {
  it.each([
    ['view', READER],
    ['edit', EDITOR],
    ['admin', EDITOR],
    ['carrel-view', READER],
    ['carrel-edit', EDITOR],
  ] as const)('%s gives these rights to our kinds, and no other', async (role, rights) => {
    expect(await rightsOf(role)).toEqual(rights);
  });

  it('who has edit starts a session, sends it a turn and answers its question', async () => {
    await place.kubectl([...as('edit'), 'create', '-f', '-'], example('Session', 'theirs'));
    await place.kubectl([...as('edit'), 'create', '-f', '-'], example('Turn', 'theirs'));
    const answer = JSON.stringify({spec: {answer: {option: 'a'}}});
    await place.kubectl([...as('edit'), 'patch', 'questions.carrel.dev/asked', '--type=merge', '-p', answer]);
    const stored = ['get', 'questions.carrel.dev/asked', '-o', 'jsonpath={.spec.answer.option} {.spec.answeredBy}'];
    expect(await place.kubectl(stored)).toBe(`a ${userOf('edit')}`);
  });

  it.each([
    ['edit', 'Question', 'questions'],
    ['view', 'Session', 'sessions'],
    ['view', 'Turn', 'turns'],
    ['view', 'Agent', 'agents'],
  ] as const)('who has %s makes no %s', async (role, kind, resource) => {
    const said = await place.refusal([...as(role), 'create', '-f', '-'], example(kind, 'refused'));
    expect(said).toContain(`User "${userOf(role)}" cannot create resource "${resource}"`);
  });

  it('nobody of them writes a status', async () => {
    for (const role of ROLES)
      for (const resource of ['agents', 'sessions', 'turns', 'questions'])
        for (const verb of ['patch', 'update'])
          expect(await may(role, verb, resource, 'status'), `${role} ${verb} ${resource}`).toBe(false);
  });

  it('who has view lists what is there, and reads no transcript; who has edit reads it', async () => {
    expect(await place.refusal([...as('view'), 'get', 'agents.carrel.dev,sessions.carrel.dev'])).toBe('');
    expect(await may('view', 'get', 'sessions', 'transcript')).toBe(false);
    expect(await may('edit', 'get', 'sessions', 'transcript')).toBe(true);
  });
});

describe('the roles of the chart for people', () => {
  const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-';
  const aggregated = (rendered: readonly Json[]) =>
    rendered.flatMap((object) => {
      const labels = member(member(object, 'metadata'), 'labels');
      const into = Object.keys(labels).filter((label) => label.startsWith(AGGREGATE) && labels[label] === 'true');
      return into.map((label) => ({
        name: text(member(object, 'metadata'), 'name'),
        into: label.slice(AGGREGATE.length),
        rights: verbsOf(items(object, 'rules')),
      }));
    });

  it('one goes into view and one into edit, and nothing else into any built-in role', async () => {
    expect(aggregated(await renderChart(place.cluster.tools.helm))).toEqual([
      {name: 'carrel-view', into: 'view', rights: READER},
      {name: 'carrel-edit', into: 'edit', rights: EDITOR},
    ]);
  });

  it('without rbac.aggregate they go into none, and can still be bound; a release without that value has it on', async () => {
    const {helm} = place.cluster.tools;
    const alone = await renderChart(helm, '--set', 'rbac.aggregate=false');
    expect(aggregated(alone)).toEqual([]);
    const names = alone
      .filter((object) => text(object, 'kind') === 'ClusterRole')
      .map((object) => text(member(object, 'metadata'), 'name'));
    expect(names).toEqual(expect.arrayContaining(['carrel-view', 'carrel-edit']));
    expect(aggregated(await renderChart(helm, '--set', 'rbac=null')).length).toBe(2);
  });
});
