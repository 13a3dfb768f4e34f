import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {Turns} from '../../../src/kube/kinds.ts';
import {makePlace, type Place} from './place.ts';

let place: Place;
let first: string;
beforeAll(async () => {
  place = await makePlace('question');
  const session = await place.idle('asks', {prompt: 'x'});
  first = session.status?.initialTurn?.name ?? '';
  await place.turnIs(first, (t) => t.status?.phase === 'Running');
});
afterAll(async () => {
  await place.remove();
});

const phase = (wanted: string) => (q: {status?: {phase?: string | undefined} | undefined}) =>
  q.status?.phase === wanted;
const ask = async (name: string, more: object = {}) => {
  const {metadata} = await place.session('asks');
  const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'asks', uid: metadata.uid};
  const spec = {
    session: 'asks',
    turn: first,
    kind: 'Permission',
    text: 'may I?',
    options: [{id: 'yes', label: 'Yes'}],
    ...more,
  };
  await place.create('Question', name, spec, {ownerReferences: [owner]});
};

describe('questions', () => {
  it('an open one makes the session need input; plain kubectl answers it', async () => {
    await ask('leave');
    await place.questionIs('leave', phase('Open'));
    await place.sessionIs('asks', (s) => s.status?.phase === 'NeedsInput' && s.status.questions === 1);
    await place.patch('questions.carrel.dev', 'leave', {answer: {option: 'yes'}});
    const answered = await place.questionIs('leave', phase('Answered'));
    expect(answered.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Ready', 'True', 'Answered'],
    ]);
    await place.sessionIs('asks', (s) => s.status?.phase === 'Running' && s.status.questions === 0);
  });

  it('a form whose answer does not fit stays open, with a Warning Event, and is answered by the correction', async () => {
    const schema = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}';
    await ask('form', {kind: 'Elicitation', options: [], schema});
    await place.questionIs('form', phase('Open'));
    await place.patch('questions.carrel.dev', 'form', {answer: {content: '{"nom":"Bob"}'}});
    const wrong = await place.questionIs('form', (q) => q.status?.conditions?.[0]?.type === 'AnswerInvalid');
    expect(wrong.status?.phase).toBe('Open');
    expect(wrong.status?.conditions?.[0]?.message).toContain(
      'name: missing; needed is text; nom: no field of the form',
    );
    await place.sessionIs('asks', (s) => s.status?.phase === 'NeedsInput' && s.status.questions === 1);
    const told = ['get', 'events', '--field-selector=involvedObject.name=form,reason=AnswerInvalid'];
    await place.until('told', async () =>
      (await place.kubectl(...told, '-o', 'jsonpath={.items[*].type}')) === 'Warning' ? true : undefined,
    );
    await place.patch('questions.carrel.dev', 'form', {answer: {content: '{"name":"Bob"}'}});
    const answered = await place.questionIs('form', phase('Answered'));
    expect(answered.status?.conditions?.map((c) => c.type)).toEqual(['Ready']);
  });

  it('twice is a no-op: a new leader writes nothing, to open questions or to answered ones', async () => {
    await ask('again');
    await place.questionIs('again', phase('Open'));
    await place.sessionIs('asks', (s) => s.status?.phase === 'NeedsInput' && s.status.questions === 1);
    await place.settled();
    const before = await place.versions();
    expect(before.join(' ')).toMatch(/Question\/again@.*Question\/leave@/);
    await place.restart();
    await place.settled();
    expect(await place.versions()).toEqual(before);
    await place.patch('questions.carrel.dev', 'again', {answer: {option: 'yes'}});
    await place.questionIs('again', phase('Answered'));
  });

  it('one that nobody answers expires by a timer', async () => {
    await ask('timely', {expiresAt: new Date(Date.now() + 1_500).toISOString()});
    await place.questionIs('timely', phase('Expired'));
  });

  it('an Ask outlives its turn; its late answer becomes one turn, once', async () => {
    await ask('colour', {kind: 'Ask', text: 'which colour?', options: []});
    await ask('open', {});
    await place.questionIs('colour', phase('Open'));
    await place.finish(first);
    await place.questionIs('open', phase('Withdrawn'));
    expect((await place.question('colour')).status?.phase).toBe('Open');
    await place.patch('questions.carrel.dev', 'colour', {answer: {text: 'green'}});
    const question = await place.questionIs('colour', (q) => q.status?.deliveredAt !== undefined);
    expect(question.status?.phase).toBe('Answered');
    const late = async () =>
      (await place.client.list(Turns, {namespace: place.namespace})).items.filter((t) => t.metadata.name !== first);
    const [turn] = await late();
    expect(turn?.spec).toMatchObject({author: {kind: 'System'}, session: 'asks'});
    expect(turn?.spec.input[0]?.text).toMatch(/^You asked:\n> which colour\?\n\nThe answer.*:\n> green$/);
    await place.restart();
    await place.settled();
    expect(await late()).toHaveLength(1);
  });

  it('deletion always finishes', async () => {
    await place.kubectl('delete', 'sessions.carrel.dev', 'asks', '--timeout=60s');
    await place.until('gone', async () =>
      (await place.kubectl('get', 'questions.carrel.dev', '-o', 'name')) === '' ? true : undefined,
    );
  });
});
