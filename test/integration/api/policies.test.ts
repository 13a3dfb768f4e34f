import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {waitFor} from '../../../hack/cluster/wait.ts';
import {items, type Json, member, text} from '../../../src/kube/typed.ts';
import {example} from './examples.ts';
import {type ApiPlace, makeApiPlace, PLATFORM} from './place.ts';
import {policiesFor} from './policies.ts';
import {objectOf, rights, type Who, WRITES} from './writers.ts';

let place: ApiPlace;
let policies: Json[] = [];

beforeAll(async () => {
  place = await makeApiPlace('policies');
  await place.kubectl(['apply', '-f', '-'], {apiVersion: 'v1', kind: 'List', items: rights(place.namespace)});
  policies = await policiesFor(place);
  await place.cluster.kubectl(
    ['apply', '--server-side', '--warnings-as-errors', '-f', '-'],
    JSON.stringify({apiVersion: 'v1', kind: 'List', items: policies}),
  );
  await waitFor(
    'the policies to be enforced',
    {timeoutMs: 60_000},
    async () => (await everyPolicyHolds()) || undefined,
  );
});
afterAll(async () => {
  await place.cluster.kubectl(
    ['delete', '--ignore-not-found', '-f', '-'],
    JSON.stringify({apiVersion: 'v1', kind: 'List', items: policies}),
  );
  await place.remove();
});

/** Each policy takes up to a second by itself: every one must have refused or stamped something. */
async function everyPolicyHolds(): Promise<boolean> {
  const dry = (who: Who, object: Json) => place.refusal([...as(who), 'create', '--dry-run=server', '-f', '-'], object);
  const stamped = await place.kubectl(
    [...as('alice'), 'create', '--dry-run=server', '-o', 'json', '-f', '-'],
    example('Turn', 'probe'),
  );
  const refused = [
    await dry('alice', example('Turn', 'probe', {author: {kind: 'Human', name: 'mallory'}})),
    await dry('alice', example('Session', 'probe', {owner: 'mallory'})),
    await dry('alice', example('Question', 'probe', {answer: {option: 'a'}, answeredBy: 'mallory'})),
    await dry('alice', {
      ...example('Session', 'probe'),
      metadata: {name: 'probe', annotations: {'carrel.dev/idempotency': 'x'}},
    }),
    await dry('alice', example('Agent', 'probe', {imagePullSecrets: ['theirs']})),
  ];
  const owned = await place.kubectl(
    [...as('alice'), 'create', '--dry-run=server', '-o', 'json', '-f', '-'],
    example('Session', 'probe'),
  );
  const answered = await place
    .kubectl(
      [...as('alice'), 'create', '--dry-run=server', '-o', 'json', '-f', '-'],
      example('Question', 'probe', {answer: {option: 'a'}}),
    )
    .catch(() => '');
  return (
    refused.every((said) => said !== '') &&
    stamped.includes('"alice"') &&
    owned.includes('"alice"') &&
    answered.includes('"alice"')
  );
}

function as(who: Who): string[] {
  if (who === 'platform') return PLATFORM;
  const user = who === 'robot' ? `system:serviceaccount:${place.namespace}:robot` : who;
  return [`--as=${user}`, '--as-group=system:authenticated'];
}

/** The part of kubectl's message that the policy wrote. */
function reasonIn(said: string): string {
  return said.replace(/^[\s\S]*denied request: /, '');
}

describe('who may write what', () => {
  it.each(WRITES.map((row, at) => [row.state, {...row, name: `w${at}`}] as const))('%s', async (_, row) => {
    const target = `${row.kind.toLowerCase()}s.carrel.dev/${row.name}`;
    if (row.before !== undefined)
      await place.kubectl(
        [...as(row.madeBy ?? 'platform'), 'create', '-f', '-'],
        example(row.kind, row.name, row.before),
      );
    const subresource = row.subresource === undefined ? [] : [`--subresource=${row.subresource}`];
    const said = await (row.patch === undefined
      ? place.refusal([...as(row.who), 'create', '-f', '-'], JSON.parse(inPlace(objectOf(row, row.name, row.spec))))
      : place.refusal([...as(row.who), 'patch', target, '--type=merge', ...subresource, '-p', inPlace(row.patch)]));
    expect(reasonIn(said)).toBe(row.says.replaceAll('NAMESPACE', place.namespace));
    if (row.gives === undefined) return;
    const stored: unknown = JSON.parse(await place.kubectl(['get', target, '-o', 'json']));
    expect(member(stored, 'spec')).toMatchObject(JSON.parse(inPlace(row.gives)));
  });

  it('an answer that is a bare word is refused by the schema, which names the field', async () => {
    await place.kubectl([...PLATFORM, 'create', '-f', '-'], example('Question', 'word'));
    const patch = ['patch', 'questions.carrel.dev/word', '--type=merge', '-p', JSON.stringify({spec: {answer: 'a'}})];
    const said = await place.refusal([...as('alice'), ...patch]);
    expect(said).toMatch(/spec\.answer: Invalid value: .*must be of type object/);
    expect(said).not.toContain('failed to convert');
  });

  it('a stamped turn survives a second apply', async () => {
    const turn = example('Turn', 'applied');
    await place.kubectl([...as('alice'), 'apply', '-f', '-'], turn);
    await place.kubectl([...as('alice'), 'apply', '-f', '-'], turn);
    await place.kubectl([...as('alice'), 'apply', '--server-side', '--force-conflicts', '-f', '-'], turn);
    expect(await place.kubectl(['get', 'turns.carrel.dev/applied', '-o', 'jsonpath={.spec.author.name}'])).toBe(
      'alice',
    );
  });
});

it('the API server finds no mistake in the types of any policy', async () => {
  for (const policy of policies.filter((one) => text(one, 'kind') === 'ValidatingAdmissionPolicy')) {
    const name = text(member(policy, 'metadata'), 'name');
    const status = await waitFor(`${name} to be type-checked`, {timeoutMs: 60_000}, async () => {
      const live: unknown = JSON.parse(await place.kubectl(['get', 'validatingadmissionpolicy', name, '-o', 'json']));
      return 'typeChecking' in member(live, 'status') ? member(live, 'status') : undefined;
    });
    expect(items(member(status, 'typeChecking'), 'expressionWarnings'), name).toEqual([]);
  }
});

function inPlace(value: unknown): string {
  return JSON.stringify(value).replaceAll('NAMESPACE', place.namespace);
}
