import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {QuestionObject} from '../../../src/api/v1alpha1/index.ts';
import {questionName} from '../../../src/gateway/runner-api/apply-question.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {PLATFORM} from '../api/place.ts';
import {answer, change, eventsOf, openQuestion, podsOf, transcript} from './person.ts';

describe('questions of an agent, with plain kubectl', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'questions');
    await place.agent('scribe', {workspace: {size: '64Mi'}});
    await place.session('slow', {agent: 'scribe', prompt: 'remember place desk\nask which colour?'});
    await place.session('forms', {agent: 'scribe', prompt: 'elicit what shall I paint?'});
    await place.session('expires', {
      agent: 'scribe',
      prompt: 'permission begin\npermission burn it down\nelicit a last word?',
    });
  });
  afterAll(async () => {
    await place.remove();
  });

  const settled = (question: QuestionObject, phase: string) =>
    until(60_000, async () => {
      const now = (await place.questions(question.spec.session)).find((q) => q.metadata.uid === question.metadata.uid);
      expect(now?.status?.phase).toBe(phase);
      expect(now?.status?.deliveredAt).toBeDefined();
      return now;
    });

  it('ask_user and permission are answered by an option; the session needs input until then', async () => {
    await place.session('asks', {
      agent: 'scribe',
      prompt: 'permission paint the wall\nask which colour? | Blue | Green',
    });
    const leave = await openQuestion(place, 'asks', 'Permission');
    expect(leave.spec.text).toContain('paint the wall');
    await place.untilSession('asks', (s) => s.status?.phase === 'NeedsInput' && s.status.questions === 1);
    await expect(answer(place, leave, {option: 'perhaps'})).rejects.toThrow(/must be the id of one of spec.options/);
    await answer(place, leave, {option: 'allow'});
    const colour = await openQuestion(place, 'asks', 'Ask');
    expect(colour.spec).toMatchObject({
      text: 'which colour?',
      options: [
        {id: 'blue', label: 'Blue'},
        {id: 'green', label: 'Green'},
      ],
    });
    await answer(place, colour, {option: 'green'});
    const turn = await place.untilTurn('asks', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('green')});
    const words = (await transcript(place, 'asks')).map((r) => r.text ?? '').join('\n');
    expect(words).toContain('permission: allow');
    const answered = await settled(leave, 'Answered');
    expect(answered?.spec.answeredBy).toBeTruthy();
    await settled(colour, 'Answered');
    await expect(answer(place, leave, {option: 'reject'})).rejects.toThrow(/can be set once|no longer open/);
    await place.untilSession('asks', (s) => s.status?.phase === 'Idle' && s.status.questions === 0);
  });

  it('a question that somebody deletes is taken back, and its turn goes on without leave', async () => {
    await place.session('deleted', {agent: 'scribe', prompt: 'permission burn it down\nask why not?\nsay done'});
    for (const kind of ['Permission', 'Ask']) {
      const question = await openQuestion(place, 'deleted', kind);
      await place.kubectl(['delete', 'questions.carrel.dev', question.metadata.name]);
    }
    const turn = await place.untilTurn('deleted', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('done')});
    const words = (await transcript(place, 'deleted')).map((r) => r.text ?? '').join('\n');
    expect(words).toContain('permission: cancelled');
  });

  it('an elicitation is answered with the content of its form', async () => {
    const form = await openQuestion(place, 'forms', 'Elicitation');
    expect(form.spec).toMatchObject({text: 'what shall I paint?', schema: expect.stringContaining('"answer"')});
    const invalid = (says: string) =>
      until(60_000, async () => {
        const now = await openQuestion(place, 'forms', 'Elicitation');
        const told = now.status?.conditions?.find((c) => c.type === 'AnswerInvalid');
        expect(told?.message).toContain(says);
      });
    await answer(place, form, {content: '{"nom":"a boat"}'});
    await invalid('answer: missing; needed is text; nom: no field of the form');
    await until(60_000, async () => {
      const told = (await eventsOf(place, form.metadata.name)).find((e) => e.reason === 'AnswerInvalid');
      expect(told?.type).toBe('Warning');
    });
    await place.untilSession('forms', (s) => s.status?.phase === 'NeedsInput' && s.status.questions === 1);
    // What the condition says, pasted as it stands.
    await answer(place, form, {content: '{"answer":"<text>"}'});
    await invalid('answer: given "<text>"; allowed is text');
    await answer(place, form, {content: '{"answer":"a boat"}'});
    const turn = await place.untilTurn('forms', 1);
    expect(turn.status?.response).toContain('a boat');
    await settled(form, 'Answered');
  });

  it('permission that nobody answers ends in the refusing option, an elicitation in a decline', async () => {
    const ready = await openQuestion(place, 'expires', 'Permission');
    const session = await place.get('expires');
    const [turn] = await place.turns('expires');
    // The runner waits an hour: the questions that it will ask are there already, with a shorter time.
    const early = (requestId: string, spec: object) => {
      const name = questionName(session, {turnUid: turn?.metadata.uid ?? '', requestId});
      const owner = {apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'expires', uid: session.metadata.uid};
      const expiresAt = new Date(Date.now() + 2_000).toISOString();
      const all = {session: 'expires', turn: turn?.metadata.name, requestId, to: 'Owner', expiresAt, ...spec};
      const object = {
        apiVersion: 'carrel.dev/v1alpha1',
        kind: 'Question',
        metadata: {name, ownerReferences: [owner]},
        spec: all,
      };
      return place.kubectl([...PLATFORM, 'create', '-f', '-'], JSON.stringify(object));
    };
    const options = [
      {id: 'allow', label: 'Allow once', kind: 'allow_once'},
      {id: 'reject', label: 'Reject', kind: 'reject_once'},
    ];
    await early('1-2', {kind: 'Permission', text: 'burn it down', options});
    await early('1-3', {kind: 'Elicitation', text: 'a last word?'});
    await answer(place, ready, {option: 'allow'});
    const done = await place.untilTurn('expires', 1);
    expect(done.status?.response).toContain('permission: reject');
    expect(done.status?.response).toMatch(/elicitation: .*decline/);
    for (const q of (await place.questions('expires')).filter((o) => o.metadata.uid !== ready.metadata.uid))
      await settled(q, 'Expired');
  });

  it('the answer of ask_user that comes late arrives as a turn of the system, and wakes a sleeping session', async () => {
    const turn = await place.untilTurn('slow', 1);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('pending')});
    await change(place, 'sessions', 'slow', {desired: 'Sleeping'});
    await place.untilSession('slow', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
    expect(await podsOf(place, 'slow')).toEqual([]);
    const question = await openQuestion(place, 'slow', 'Ask');
    await answer(place, question, {text: 'blue, please'});
    const late = await place.untilTurn('slow', 2);
    expect(late.spec.author).toMatchObject({kind: 'System'});
    expect(late.spec.input[0]?.text).toMatch(/^You asked:\n> which colour\?\n\nThe answer \(by .*\):\n> blue, please$/);
    expect(late.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('blue, please')});
    await settled(question, 'Answered');
    await place.turn('recalls', 'slow', 'recall place');
    expect((await place.untilTurn('slow', 3)).status?.response).toContain('desk');
    expect((await place.turns('slow')).filter((t) => t.spec.author?.kind === 'System')).toHaveLength(1);
  });
});
