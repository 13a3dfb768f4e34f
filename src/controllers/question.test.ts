import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {
  AGENT_IMAGE,
  type ControllerFixture,
  putAddresses,
  sessionSpec,
  startControllers,
} from '../../test/support/controller-fixture.ts';
import {type FakeApi, startFakeApi} from '../../test/support/fake-api.ts';
import {revisionData} from '../../test/support/session-objects.ts';
import type {QuestionObject} from '../api/v1alpha1/index.ts';
import {Events} from '../kube/builtin.ts';
import {Agents, Questions, Sessions} from '../kube/kinds.ts';

const namespace = 'team';
const SCHEMA = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}';
let api: FakeApi;
let run: ControllerFixture;

beforeEach(async () => {
  api = await startFakeApi();
  putAddresses(api, namespace);
  run = await startControllers({connection: api.connection, namespace});
  const spec = {...revisionData().spec, image: AGENT_IMAGE};
  api.put(Agents, {metadata: {name: 'scribe', namespace, generation: 1, uid: 'agent-00-uid'}, spec});
  const metadata = {name: 'one', namespace, uid: 'aaaaaaaa-0000-0000-0000-000000000000', generation: 1};
  api.put(Sessions, {metadata, spec: sessionSpec({prompt: 'hello'})});
  await run.until('pod', async () => (await run.session('one')).status?.pod);
  ask({});
  await is('asked', (now) => now.status?.phase === 'Open');
});
afterEach(async () => {
  await run.stop();
  await api.close();
});

const question = () => api.get(Questions, {namespace, name: 'q'});

/** The form of the agent, as it is after somebody changed its spec. */
function ask(change: Partial<QuestionObject['spec']>): void {
  const before = question();
  const spec = {
    session: 'one',
    turn: 'one-aaaaaaaa-first',
    kind: 'Elicitation' as const,
    text: 'Who?',
    to: 'Owner' as const,
  };
  const generation = (before?.metadata.generation ?? 0) + 1;
  const metadata = {name: 'q', namespace, uid: 'bbbbbbbb-0000', generation};
  const status = before?.status === undefined ? {} : {status: before.status};
  api.put(Questions, {metadata, spec: {...spec, schema: SCHEMA, ...change}, ...status});
}

const is = (what: string, wanted: (now: QuestionObject) => boolean) =>
  run.until(what, async () => {
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
    await run.settled();
    expect((await run.session('one')).status?.questions).toBe(1);
    ask({answer: {content: '{a}'}, answeredBy: 'bob'});
    await is('judged again', (now) => now.status?.observedGeneration === 3);
    await run.settled();
    const told = api.list(Events).filter((e) => e.reason === 'AnswerInvalid');
    expect(told.map((e) => [e.type, e.regarding.name, e.note])).toEqual([
      ['Warning', 'q', expect.stringMatching(/name: missing; needed is text.*Answer again with: kubectl patch/)],
    ]);
    ask({answer: {content: '{"name":"Bob"}'}, answeredBy: 'alice'});
    const answered = await is('answered', (now) => now.status?.phase === 'Answered');
    expect(answered.status?.conditions?.map((c) => [c.type, c.reason])).toEqual([['Ready', 'Answered']]);
    await run.until('counted', async () => ((await run.session('one')).status?.questions === 0 ? true : undefined));
  });

  it('twice is a no-op: a new leader writes nothing and tells nothing again', async () => {
    ask({answer: {content: '{"nom":"Bob"}'}});
    await judged('AnswerInvalid');
    await run.settled();
    const before = [question()?.metadata.resourceVersion, api.list(Events).length];
    await run.stop();
    run = await startControllers({connection: api.connection, namespace});
    await run.settled();
    expect([question()?.metadata.resourceVersion, api.list(Events).length]).toEqual(before);
  });

  it('ends with the question that somebody deletes', async () => {
    ask({answer: {content: '{"nom":"Bob"}'}});
    await judged('AnswerInvalid');
    api.drop(Questions, {namespace, name: 'q'});
    await run.until('counted', async () => ((await run.session('one')).status?.questions === 0 ? true : undefined));
  });
});
