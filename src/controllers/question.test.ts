import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {namespace, SessionBench} from '../../test/support/session-bench.ts';
import type {QuestionObject} from '../api/v1alpha1/index.ts';
import {Events} from '../kube/builtin.ts';
import {Questions} from '../kube/kinds.ts';

const SCHEMA = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}';
let bench: SessionBench;
let turn: string;

beforeEach(async () => {
  bench = await SessionBench.start();
  turn = await bench.firstTurnRuns();
  ask({});
  await is('asked', (now) => now.status?.phase === 'Open');
});
afterEach(() => bench.stop());

const question = () => bench.api.get(Questions, {namespace, name: 'q'});

/** The form of the agent, as it is after somebody changed its spec. */
function ask(change: Partial<QuestionObject['spec']>): void {
  const before = question();
  const spec = {
    session: 'one',
    turn,
    kind: 'Elicitation' as const,
    text: 'Who?',
    to: 'Owner' as const,
  };
  const generation = (before?.metadata.generation ?? 0) + 1;
  const metadata = {name: 'q', namespace, uid: 'bbbbbbbb-0000', generation};
  const status = before?.status === undefined ? {} : {status: before.status};
  bench.api.put(Questions, {metadata, spec: {...spec, schema: SCHEMA, ...change}, ...status});
}

const is = (what: string, wanted: (now: QuestionObject) => boolean) =>
  bench.run.until(what, async () => {
    const now = question();
    return now !== undefined && wanted(now) ? now : undefined;
  });

const judged = (type: string) =>
  is(type, ({metadata, status}) => {
    return (
      status?.observedGeneration === metadata.generation && status?.conditions?.some((c) => c.type === type) === true
    );
  });

describe('an answer that does not fit the form', () => {
  it('leaves the question open, is told once by an Event, and is corrected', async () => {
    ask({answer: {content: '{"nom":"Bob"}'}, answeredBy: 'alice'});
    expect((await judged('AnswerInvalid')).status?.phase).toBe('Open');
    await bench.run.settled();
    expect((await bench.run.session('one')).status?.questions).toBe(1);
    ask({answer: {content: '{a}'}, answeredBy: 'bob'});
    await is('judged again', (now) => now.status?.observedGeneration === 3);
    await bench.run.settled();
    const told = bench.api.list(Events).filter((e) => e.reason === 'AnswerInvalid');
    expect(told.map((e) => [e.type, e.regarding.name, e.note])).toEqual([
      ['Warning', 'q', expect.stringMatching(/name: missing; needed is text.*Answer again with: kubectl patch/)],
    ]);
    ask({answer: {content: '{"name":"Bob"}'}, answeredBy: 'alice'});
    const answered = await is('answered', (now) => now.status?.phase === 'Answered');
    expect(answered.status?.conditions?.map((c) => [c.type, c.reason])).toEqual([['Ready', 'Answered']]);
    await bench.run.until('counted', async () =>
      (await bench.run.session('one')).status?.questions === 0 ? true : undefined,
    );
  });

  it('twice is a no-op: a new leader writes nothing and tells nothing again', async () => {
    ask({answer: {content: '{"nom":"Bob"}'}});
    await judged('AnswerInvalid');
    await bench.run.settled();
    const before = [question()?.metadata.resourceVersion, bench.api.list(Events).length];
    await bench.restart();
    await bench.run.settled();
    expect([question()?.metadata.resourceVersion, bench.api.list(Events).length]).toEqual(before);
  });

  it('ends with the question that somebody deletes', async () => {
    ask({answer: {content: '{"nom":"Bob"}'}});
    await judged('AnswerInvalid');
    bench.api.drop(Questions, {namespace, name: 'q'});
    await bench.run.until('counted', async () =>
      (await bench.run.session('one')).status?.questions === 0 ? true : undefined,
    );
  });
});
