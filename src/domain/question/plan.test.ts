import {describe, expect, it} from 'vitest';
import {ago, NOW, POD_UID, question, READY, session, turn} from '../../../test/support/session-objects.ts';
import type {QuestionObject} from '../../api/v1alpha1/index.ts';
import {planQuestion, type QuestionSeen} from './plan.ts';

const live = session({...READY});
const asking = turn('first', {phase: 'Running', podUID: POD_UID});
const over = turn('first', {phase: 'Completed', podUID: POD_UID});
const later = new Date(NOW.getTime() + 60_000).toISOString();

const deleted = (q: QuestionObject): QuestionObject => ({...q, metadata: {...q.metadata, deletionTimestamp: ago(1)}});

const form = (spec: Partial<QuestionObject['spec']> & {status?: QuestionObject['status']} = {}) => {
  const schema = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}';
  return question('q', {kind: 'Elicitation', schema, ...spec});
};
const misfit = {answer: {content: '{"nom":"Bob"}'}, answeredBy: 'alice'};

const CASES: Record<string, {seen: Partial<QuestionSeen>; phase: string; turns?: number; outcome?: object}> = {
  'just asked': {seen: {question: question('q')}, phase: 'Open'},
  'open until its time is over': {
    seen: {question: question('q', {expiresAt: later})},
    phase: 'Open',
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'answered while the turn runs': {
    seen: {question: question('q', {answer: {text: 'green'}})},
    phase: 'Answered',
    turns: 0,
  },
  'its time is over': {seen: {question: question('q', {kind: 'Permission', expiresAt: ago(1)})}, phase: 'Expired'},
  'answered in the very second in which its time is over': {
    seen: {question: question('q', {kind: 'Permission', expiresAt: ago(1), answer: {text: 'x'}})},
    phase: 'Answered',
  },
  'a permission whose turn is over': {
    seen: {question: question('q', {kind: 'Permission'}), turn: over},
    phase: 'Withdrawn',
  },
  'a permission whose turn is deleted': {
    seen: {question: question('q', {kind: 'Permission'}), turn: undefined},
    phase: 'Withdrawn',
  },
  'a permission whose pod is gone': {
    seen: {question: question('q', {kind: 'Permission'}), session: session({...READY, pod: undefined})},
    phase: 'Withdrawn',
  },
  'taken back by the agent': {seen: {question: question('q', {status: {deliveredAt: ago(1)}})}, phase: 'Withdrawn'},
  'deleted, and kept by a finalizer of somebody else': {
    seen: {question: deleted(question('q', {kind: 'Permission'}))},
    phase: 'Withdrawn',
  },
  'answered, then deleted': {seen: {question: deleted(question('q', {answer: {text: 'green'}}))}, phase: 'Answered'},
  'an Ask whose turn is over stays open': {seen: {question: question('q'), turn: over}, phase: 'Open'},
  'an Ask whose session is closed': {
    seen: {question: question('q'), session: session({...READY, phase: 'Closed'})},
    phase: 'Withdrawn',
  },
  'an Ask whose session is gone': {seen: {question: question('q'), session: undefined}, phase: 'Withdrawn'},
  'an Ask that is answered after its turn': {
    seen: {question: question('q', {answer: {text: 'green'}}), turn: over},
    phase: 'Answered',
    turns: 1,
  },
  'an Ask whose late answer was sent': {
    seen: {
      question: question('q', {answer: {text: 'green'}, status: {phase: 'Answered', deliveredAt: ago(9)}}),
      turn: over,
    },
    phase: 'Answered',
    turns: 0,
  },
  'an Ask whose answer waits for a failed session': {
    seen: {
      question: question('q', {answer: {text: 'green'}}),
      turn: over,
      session: session({...READY, phase: 'Failed'}),
    },
    phase: 'Answered',
    turns: 0,
  },
  'a permission that was answered too late goes nowhere': {
    seen: {question: question('q', {kind: 'Permission', answer: {option: 'yes'}}), turn: over},
    phase: 'Answered',
    turns: 0,
  },
  'a form that is filled in': {seen: {question: form({answer: {content: '{"name":"Bob"}'}})}, phase: 'Answered'},
  'a form whose answer does not fit': {
    seen: {question: form({...misfit, expiresAt: later})},
    phase: 'Open',
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'a form whose answer is no JSON': {seen: {question: form({answer: {content: '{a}'}})}, phase: 'Open'},
  'a form whose answer does not fit until its time is over': {
    seen: {question: form({...misfit, expiresAt: ago(1)})},
    phase: 'Expired',
  },
  'a form whose answer does not fit and whose turn is over': {
    seen: {question: form(misfit), turn: over},
    phase: 'Withdrawn',
  },
  'a form whose answer does not fit, deleted': {seen: {question: deleted(form(misfit))}, phase: 'Withdrawn'},
  'a form that was answered before anybody judged answers': {
    seen: {question: form({...misfit, status: {phase: 'Answered'}})},
    phase: 'Answered',
  },
};

describe('planQuestion', () => {
  it.each(Object.entries(CASES))('%s', (_name, {seen, phase, turns, outcome}) => {
    const whole = {question: question('q'), session: live, turn: asking, now: NOW, ...seen};
    const plan = planQuestion(whole);
    expect(plan.status.phase).toBe(phase);
    if (turns !== undefined) expect(plan.create === undefined ? 0 : 1).toBe(turns);
    if (outcome !== undefined) expect(plan.outcome).toEqual(outcome);
    const again = planQuestion({...whole, question: {...whole.question, status: plan.status}});
    expect(again.status).toEqual(plan.status);
    expect(again.create).toBeUndefined();
  });

  it('a late answer quotes question and answer, names who answered, and has one name', () => {
    const asked = question('q', {options: [{id: 'g', label: 'Green'}], answer: {option: 'g'}, answeredBy: 'alice'});
    const {create} = planQuestion({question: asked, session: live, turn: over, now: NOW});
    expect(create?.metadata.name).toBe('one-5e551011-answer-0e570000');
    expect(create?.spec.input).toEqual([{text: 'You asked:\n> which colour?\n\nThe answer (by alice):\n> Green (g)'}]);
    expect(create?.spec.author).toMatchObject({kind: 'System'});
  });
});

describe('an answer that does not fit its form', () => {
  const plan = (asked: QuestionObject) => planQuestion({question: asked, session: live, turn: asking, now: NOW});
  const said = (asked: QuestionObject) =>
    plan(asked).status.conditions?.map(({type, status, reason}) => [type, status, reason]);

  it('is told with what is wrong and how to answer again, until it is corrected', () => {
    const asked = form(misfit);
    expect(said(asked)).toEqual([
      ['AnswerInvalid', 'True', 'AnswerInvalid'],
      ['Ready', 'False', 'Open'],
      ['Reconciling', 'True', 'Open'],
    ]);
    expect(plan(asked).status.conditions?.[0]?.message).toBe(
      'the answer does not fit the form: name: missing; needed is text; nom: no field of the form. Answer again with: ' +
        'kubectl patch questions.carrel.dev q -n team --type=merge -p ' +
        `'{"spec":{"answer":{"content":"{\\"name\\":\\"<text>\\"}"}}}'`,
    );
    const {status} = plan(asked);
    expect(said(form({answer: {content: '{"name":"Bob"}'}, status}))).toEqual([['Ready', 'True', 'Answered']]);
  });

  it('is no trace once the question has ended otherwise', () => {
    const {status} = plan(form(misfit));
    const ended = form({...misfit, status, expiresAt: ago(1)});
    expect(said(ended)).toEqual([['Ready', 'True', 'Expired']]);
    expect(plan(ended).status.conditions?.[0]?.message).toBe(`no answer that fits came before ${ago(1)}`);
  });

  it('leaves the command whole, however much is wrong', () => {
    const names = Array.from({length: 200}, (_, at) => `${at}-${'\u202E'.repeat(30)}`);
    const schema = JSON.stringify({required: names});
    const long = question('x'.repeat(63), {kind: 'Elicitation', schema, answer: {content: '{}'}});
    const message = plan({...long, metadata: {...long.metadata, namespace: 'y'.repeat(63)}}).status.conditions?.[0]
      ?.message;
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(1_026);
    expect(message).toMatch(/\}"\}\}\}'$/);
  });
});

describe('the command that answers', () => {
  const message = (options?: string[], kind: 'Ask' | 'Permission' | 'Elicitation' = 'Ask') => {
    const spec = {kind, ...(options === undefined ? {} : {options: options.map((id) => ({id, label: id}))})};
    const plan = planQuestion({question: question('q', spec), session: live, turn: asking, now: NOW});
    return plan.status.conditions?.find((one) => one.type === 'Ready')?.message ?? '';
  };

  it.each<[string, string, string]>([
    [
      'Permission',
      message(['allow', 'reject'], 'Permission'),
      '{"spec":{"answer":{"option":"<one of: allow, reject>"}}}',
    ],
    ['Ask with options', message(['r', 'g']), '{"spec":{"answer":{"option":"<one of: r, g>"}}}'],
    ['Ask', message(), '{"spec":{"answer":{"text":"<your answer>"}}}'],
    ['Ask with a quote in an option', message(["it's"]), '{"spec":{"answer":{"option":"<one of: it\\u0027s>"}}}'],
  ])('of %s names the namespace and leaves the choice open', (_name, said, patch) => {
    expect(said).toBe(`answer with: kubectl patch questions.carrel.dev q -n team --type=merge -p '${patch}'`);
  });

  it('is whole with as many options as there can be', () => {
    const said = message(Array.from({length: 32}, (_, i) => `${i}-${'x'.repeat(120)}`));
    expect(Buffer.byteLength(said)).toBeLessThanOrEqual(1_024);
    expect(said).toMatch(/>"\}\}\}'$/);
  });
});
