import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {waitFor} from '../../../hack/cluster/wait.ts';
import type {Json} from '../../../src/api/json.ts';
import {items, member, text} from '../../../src/kube/typed.ts';
import {as, attempt} from './attempt.ts';
import {example} from './examples.ts';
import {type ApiPlace, makeApiPlace, PLATFORM} from './place.ts';
import {policiesFor} from './policies.ts';
import {QUESTION_WRITES} from './question-writers.ts';
import {rights, type Who, WRITES} from './writers.ts';

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
  await place.kubectl([...PLATFORM, 'create', '-f', '-'], example('Question', 'probe'));
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

/** An answer to the question `probe`, as a dry run. */
function answerAs(who: Who, spec: Json): string[] {
  const patch = ['patch', 'questions.carrel.dev/probe', '--type=merge', '-p', JSON.stringify({spec})];
  return [...as(who, place), ...patch, '--dry-run=server'];
}

/** Each policy takes up to a second by itself: every one must have refused or stamped something. */
async function everyPolicyHolds(): Promise<boolean> {
  const dry = (who: Who, object: Json) =>
    place.refusal([...as(who, place), 'create', '--dry-run=server', '-f', '-'], object);
  const stamped = await place.kubectl(
    [...as('alice', place), 'create', '--dry-run=server', '-o', 'json', '-f', '-'],
    example('Turn', 'probe'),
  );
  const refused = [
    await dry('alice', example('Turn', 'probe', {author: {kind: 'Human', name: 'mallory'}})),
    await dry('alice', example('Session', 'probe', {owner: 'mallory'})),
    await place.refusal(answerAs('alice', {answer: {option: 'a'}, answeredBy: 'mallory'})),
    await dry('alice', {
      ...example('Session', 'probe'),
      metadata: {name: 'probe', annotations: {'carrel.dev/idempotency': 'x'}},
    }),
    await dry('alice', example('Agent', 'probe', {imagePullSecrets: ['theirs']})),
  ];
  const owned = await place.kubectl(
    [...as('alice', place), 'create', '--dry-run=server', '-o', 'json', '-f', '-'],
    example('Session', 'probe'),
  );
  const answered = await place.kubectl([...answerAs('alice', {answer: {option: 'a'}}), '-o', 'json']).catch(() => '');
  return (
    refused.every((said) => said !== '') &&
    stamped.includes('"alice"') &&
    owned.includes('"alice"') &&
    answered.includes('"alice"')
  );
}

describe('who may write what', () => {
  it.each([...WRITES, ...QUESTION_WRITES].map((row, at) => [row.state, `w${at}`, row] as const))(
    '%s',
    async (_, name, row) => {
      await attempt(place, row, name);
    },
  );

  it('an answer that is a bare word is refused by the schema, which names the field', async () => {
    await place.kubectl([...PLATFORM, 'create', '-f', '-'], example('Question', 'word'));
    const patch = ['patch', 'questions.carrel.dev/word', '--type=merge', '-p', JSON.stringify({spec: {answer: 'a'}})];
    const said = await place.refusal([...as('alice', place), ...patch]);
    expect(said).toMatch(/spec\.answer: Invalid value: .*must be of type object/);
    expect(said).not.toContain('failed to convert');
  });

  it('a stamped turn survives a second apply', async () => {
    const turn = example('Turn', 'applied');
    await place.kubectl([...as('alice', place), 'apply', '-f', '-'], turn);
    await place.kubectl([...as('alice', place), 'apply', '-f', '-'], turn);
    await place.kubectl([...as('alice', place), 'apply', '--server-side', '--force-conflicts', '-f', '-'], turn);
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
