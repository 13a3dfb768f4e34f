import {createHash} from 'node:crypto';
import {afterEach, describe, expect, it} from 'vitest';
import {type Bench, startBench} from '../../../test/support/runner-api-bench.ts';
import {POD_NAME, POD_UID, question, SESSION_UID, session, turn} from '../../../test/support/runner-objects.ts';
import type {RunnerEvent} from '../../api/wire/runner.ts';
import {ArchiveError} from '../../domain/archive.ts';
import {ConfigMaps} from '../../kube/builtin.ts';
import {Questions, Sessions, Turns} from '../../kube/kinds.ts';

const ref = (name: string) => ({namespace: 'team-a', name});
const at = '2026-01-01T00:00:00Z';
const record = (text: string): RunnerEvent => ({type: 'record', record: {time: at, kind: 'message', text}});
const finished = (changes: object = {}) => ({
  type: 'turnFinished',
  turnUid: 'turn-uid-1',
  turnName: 't1',
  phase: 'Completed',
  stopReason: 'EndTurn',
  response: 'done',
  finishedAt: at,
  ...changes,
});
const asked = (changes: object = {}) => ({
  type: 'question',
  turnUid: 'turn-uid-1',
  turnName: 't1',
  requestId: 'r1',
  kind: 'Permission',
  text: 'Write?',
  options: [{id: 'y', label: 'Yes', kind: 'allow_once'}],
  expiresAt: '2099-01-01T00:00:00Z',
  ...changes,
});

let bench: Bench;
const start = async (prepare: Parameters<typeof startBench>[0] = () => undefined) => {
  bench = await startBench((api) => {
    api.put(Sessions, session());
    api.put(Turns, turn());
    prepare(api);
  });
  bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
};
afterEach(() => bench.close());
const post = (events: readonly object[], from = 1, token = 'good') =>
  bench.call('POST', '/runner/v1/events', {token, body: {podUid: POD_UID, epoch: 1, from, events}});
const kinds = async () =>
  (await bench.store.read({namespace: 'team-a', sessionUid: SESSION_UID, after: 0, limit: 100})).records.map(
    (r) => r.kind,
  );
const texts = async () =>
  (await bench.store.read({namespace: 'team-a', sessionUid: SESSION_UID, after: 0, limit: 100})).records.map(
    (r) => r.text,
  );

describe('who may call the runner API', () => {
  const pods = [
    {state: 'a token that is not accepted', token: 'bad', status: 401},
    {state: 'a review that could not be made', pod: 'none' as const, status: 503},
    {state: 'a pod that the session does not name yet', pod: {uid: 'new', name: 'carrel-one-aaaaaaaa-2'}, status: 425},
    {state: 'a pod of an earlier attempt', pod: {uid: 'old', name: 'carrel-one-aaaaaaaa-0'}, status: 410},
    {state: 'another pod of the present attempt', pod: {uid: 'foreign', name: POD_NAME}, status: 410},
    {state: 'a pod of an older session of that name', pod: {uid: 'old', name: 'carrel-one-bbbbbbbb-9'}, status: 410},
    {state: 'a pod of a session that is gone', pod: {uid: 'old', name: 'carrel-two-aaaaaaaa-1'}, status: 410},
    {state: 'a pod that is none of ours', pod: {uid: 'x', name: 'nginx'}, status: 410},
  ];
  for (const {state, pod, token = 'it', status} of pods) {
    it(`${state} gets ${status}, on every path`, async () => {
      await start();
      if (pod !== undefined) bench.tokens.set('it', pod);
      expect((await post([record('x')], 1, token)).status).toBe(status);
      expect((await bench.call('GET', '/runner/v1/context', {token})).status).toBe(status);
      expect((await bench.open(token)).status).toBe(status);
      expect(await texts()).toEqual([]);
    });
  }

  it('refuses a second credential beside the token', async () => {
    await start();
    const both = {headers: {'x-api-key': 'another'}};
    expect((await bench.call('GET', '/runner/v1/context', both)).status).toBe(401);
    expect((await bench.call('GET', '/runner/v1/context')).status).toBe(200);
  });

  it('never takes the pod from the body', async () => {
    await start();
    const body = {podUid: 'other', epoch: 1, from: 1, events: [record('x')]};
    expect((await bench.call('POST', '/runner/v1/events', {body})).status).toBe(400);
    expect(await texts()).toEqual([]);
  });

  it('takes a pod that only the API server knows as bound, while the cache is behind', async () => {
    await start();
    bench.api.endWatches('break');
    bench.api.fault = (r) => (r.query.has('watch') ? 'hang' : undefined);
    bench.api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    bench.tokens.set('second', {uid: 'pod-uid-2', name: 'carrel-one-aaaaaaaa-2'});
    expect((await bench.call('GET', '/runner/v1/context', {token: 'second'})).status).toBe(200);
  });
});

describe('the desired stream', () => {
  it('delivers the running turn with the prompt as it stands in the API, not in the cache', async () => {
    await start();
    const stream = await bench.open();
    expect(await stream.next()).toMatchObject({
      podUid: POD_UID,
      attempt: 1,
      session: {name: 'one', uid: SESSION_UID},
      turn: {name: 't1', uid: 'turn-uid-1', sequence: 2, input: [{text: 'hello'}], preface: []},
      answers: [],
      desired: 'Run',
    });
    stream.close();
  });

  it('sends a new document with a higher number on each change, and none when nothing changes', async () => {
    await start();
    const stream = await bench.open();
    const first = await stream.next();
    bench.api.put(Sessions, {...session(), metadata: {...session().metadata, labels: {a: 'b'}}});
    bench.api.put(Turns, turn({spec: {stop: 'Interrupt'}}));
    const second = await stream.next();
    expect(second).toMatchObject({turn: {uid: 'turn-uid-1'}, stop: {turnUid: 'turn-uid-1'}});
    expect(second?.generation).toBeGreaterThan(first?.generation ?? Number.POSITIVE_INFINITY);
    stream.close();
  });

  it('delivers an answer as soon as it is given', async () => {
    await start((api) => void api.put(Questions, question()));
    const stream = await bench.open();
    expect((await stream.next())?.answers).toEqual([]);
    bench.api.put(Questions, question({spec: {answer: {option: 'y'}}, status: {phase: 'Answered'}}));
    expect((await stream.next())?.answers).toMatchObject([
      {question: 'q1', requestId: 'r1', outcome: 'Answered', option: 'y'},
    ]);
    stream.close();
  });

  it('tells that a question which waited and was deleted is taken back; one that was answered before is not', async () => {
    await start((api) => {
      api.put(Questions, question());
      api.put(Questions, question({name: 'q2', spec: {requestId: 'r2'}, status: {phase: 'Expired', deliveredAt: at}}));
    });
    const stream = await bench.open();
    expect((await stream.next())?.answers).toEqual([]);
    for (const name of ['q2', 'q1']) bench.api.drop(Questions, ref(name));
    expect((await stream.next((d) => d.answers.length > 0))?.answers).toMatchObject([
      {question: 'q1', requestId: 'r1', outcome: 'Withdrawn'},
    ]);
    stream.close();
  });

  it('stops a turn that was deleted', async () => {
    await start();
    const stream = await bench.open();
    await stream.next();
    bench.api.drop(Turns, ref('t1'));
    expect((await stream.next())?.stop).toEqual({turnUid: 'turn-uid-1'});
    stream.close();
  });

  it('ends when the session names another pod, and the next request is fenced', async () => {
    await start();
    const stream = await bench.open();
    await stream.next();
    bench.api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    expect(await stream.next()).toBeUndefined();
    expect((await bench.open()).status).toBe(410);
  });

  it('waits with the document, rather than leaving the turn out, while the prompt cannot be read', async () => {
    await start();
    let refused = 0;
    bench.api.fault = ({method, path}) => {
      if (method !== 'GET' || !path.endsWith('/turns/t1') || refused >= 1) return undefined;
      refused += 1;
      return {status: 403, body: {kind: 'Status', message: 'no'}};
    };
    const stream = await bench.open();
    expect((await stream.next())?.turn?.input).toEqual([{text: 'hello'}]);
    stream.close();
  });

  it('reads large input from its ConfigMap', async () => {
    const text = 'long '.repeat(10);
    const sha256 = createHash('sha256').update(text).digest('hex');
    await start((api) => {
      api.put(ConfigMaps, {metadata: {...ref('big')}, data: {text}});
      api.put(Turns, turn({spec: {input: [{text: 'a'}, {from: {configMap: 'big', sha256}}]}}));
    });
    const stream = await bench.open();
    expect((await stream.next())?.turn?.input).toEqual([{text: 'a'}, {text}]);
    stream.close();
  });

  it('fails a turn whose ConfigMap is not what the turn names, and says which', async () => {
    await start((api) => {
      api.put(ConfigMaps, {metadata: {...ref('big')}, data: {text: 'other'}});
      api.put(Turns, turn({spec: {input: [{from: {configMap: 'big', sha256: '0'.repeat(64)}}]}}));
    });
    const stream = await bench.open();
    expect((await stream.next())?.turn).toBeUndefined();
    expect(bench.api.get(Turns, ref('t1'))?.status).toMatchObject({
      phase: 'Failed',
      archived: true,
      error: {code: 'input_changed'},
    });
    expect(await texts()).toEqual([expect.stringContaining('ConfigMap big')]);
    stream.close();
  });

  it('keeps one stream for each pod: a new connection ends the old one', async () => {
    await start();
    const first = await bench.open();
    await first.next();
    const second = await bench.open();
    await second.next();
    expect(await first.next()).toBeUndefined();
    expect(bench.runnerApi.streams()).toBe(1);
    second.close();
  });

  it('ends its streams when the process is to stop', async () => {
    await start();
    const stream = await bench.open();
    await stream.next();
    await bench.runnerApi.drain(1);
    expect(await stream.next()).toBeUndefined();
  });
});

describe('events of a runner', () => {
  it('archives first, then ends the turn, and acknowledges', async () => {
    await start();
    const events = [record('a'), finished({usage: {inputTokens: 3, outputTokens: -1}})];
    expect(await post(events)).toEqual({status: 200, body: {acked: 2}});
    expect(bench.api.get(Turns, ref('t1'))?.status).toMatchObject({
      phase: 'Completed',
      stopReason: 'EndTurn',
      response: 'done',
      usage: {inputTokens: 3},
      finishedAt: at,
      archived: true,
      podUID: POD_UID,
    });
    expect(await kinds()).toEqual(['message', 'turn_finished']);
  });

  it('the end of a turn that was asked to stop names the generation that asked, so that `kubectl wait` sees it', async () => {
    const stopped = turn({status: {observedGeneration: 1}});
    await start((api) => api.put(Turns, {...stopped, metadata: {...stopped.metadata, generation: 2}}));
    expect((await post([finished({phase: 'Interrupted'})])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status).toMatchObject({phase: 'Interrupted', observedGeneration: 2});
  });

  it('archives the end of a turn once, where the runner told of it itself', async () => {
    await start();
    const told = {type: 'record', record: {time: at, kind: 'turn_finished', turn: {uid: 'turn-uid-1', sequence: 2}}};
    expect(await post([told, finished()])).toEqual({status: 200, body: {acked: 2}});
    expect(await kinds()).toEqual(['turn_finished']);
  });

  it('stores and changes nothing twice when the acknowledgement was lost', async () => {
    await start();
    await post([record('a'), finished(), asked()]);
    const before = bench.api.get(Turns, ref('t1'))?.metadata.resourceVersion;
    expect(await post([record('a'), finished(), asked()])).toEqual({status: 200, body: {acked: 3}});
    expect(bench.api.get(Turns, ref('t1'))?.metadata.resourceVersion).toBe(before);
    expect(await kinds()).toEqual(['message', 'turn_finished']);
  });

  it('changes no object while the archive is away, and asks to send again', async () => {
    await start();
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    expect(await post([finished()])).toMatchObject({status: 503, body: {code: 'archive_unavailable'}});
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Running');
    bench.archiveError = undefined;
    expect((await post([finished()])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
  });

  it('says so when the archive refuses a batch for good', async () => {
    await start();
    bench.archiveError = new ArchiveError('Refused', 'archive: 400 no records');
    expect(await post([finished()])).toMatchObject({
      status: 422,
      body: {code: 'archive_refused', message: 'archive: 400 no records'},
    });
  });

  it('a start does not wait for the archive, its end does', async () => {
    await start();
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    const state = () => bench.api.get(Sessions, ref('one'))?.status?.runner?.state;
    expect((await post([record('a'), {type: 'report', state: 'Ready'}])).status).toBe(503);
    expect(state()).toBe('Ready');
    expect((await post([record('a'), {type: 'report', state: 'Failed', reason: 'X'}])).status).toBe(503);
    expect(state()).toBe('Ready');
    bench.archiveError = undefined;
    expect((await post([record('a'), {type: 'report', state: 'Failed', reason: 'X'}])).status).toBe(200);
    expect(state()).toBe('Failed');
  });

  it('finishes the patch of a batch that was archived when the API server failed', async () => {
    await start();
    bench.api.fault = ({method}) => (method === 'PATCH' ? {status: 400, body: {}} : undefined);
    expect((await post([record('a'), finished()])).status).not.toBe(200);
    bench.api.fault = () => undefined;
    expect(await post([record('a'), finished()])).toEqual({status: 200, body: {acked: 2}});
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
    expect(await kinds()).toEqual(['message', 'turn_finished']);
  });

  it('is sure of the end when the reply to its patch was lost', async () => {
    await start();
    let lost = 0;
    bench.api.fault = ({method}) => {
      if (method !== 'PATCH' || lost > 0) return undefined;
      lost += 1;
      return 'lose';
    };
    expect((await post([finished()])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
  });

  it('tells a runner that left a gap where to go on', async () => {
    await start();
    await post([record('a')]);
    expect(await post([record('c')], 3)).toMatchObject({status: 409, body: {code: 'gap', acked: 1}});
  });

  const over = [
    {state: 'that another finisher ended', put: turn({status: {phase: 'Interrupted'}}), reason: 'turn_over'},
    {state: 'that runs in another pod', put: turn({status: {podUID: 'other'}}), reason: 'turn_not_ours'},
    {state: 'that was made anew under the same name', put: turn({uid: 'turn-uid-9'}), reason: 'turn_gone'},
  ];
  for (const row of over) {
    it(`archives the report of a turn ${row.state}, and leaves the object alone`, async () => {
      await start((api) => {
        api.drop(Turns, ref('t1'));
        api.put(Turns, row.put);
      });
      expect((await post([finished()])).status).toBe(200);
      expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe(row.put.status?.phase);
      expect(bench.log.lines.map((l) => l.fields)).toContainEqual(expect.objectContaining({reason: row.reason}));
      expect(await kinds()).toEqual(['turn_finished']);
    });
  }

  it('writes the report of a start, keeps the conversation over reports that do not name it, and writes nothing twice', async () => {
    await start();
    await post([
      {type: 'report', state: 'Starting'},
      {type: 'report', state: 'Ready', agentSessionId: 'c1', conversation: 'New', findings: []},
    ]);
    const written = bench.api.get(Sessions, ref('one'));
    expect(written?.status?.runner).toMatchObject({podUID: POD_UID, epoch: 1, state: 'Ready', agentSessionId: 'c1'});
    expect(JSON.stringify(written?.status?.runner)).not.toContain('findings');
    await post([{type: 'report', state: 'Ready', agentSessionId: 'c1', conversation: 'New'}], 3);
    expect(bench.api.get(Sessions, ref('one'))?.metadata.resourceVersion).toBe(written?.metadata.resourceVersion);
    await post([{type: 'report', state: 'Exited', exit: {code: 1}}], 4);
    expect(bench.api.get(Sessions, ref('one'))?.status?.runner).toMatchObject({
      state: 'Exited',
      exit: {code: 1},
      agentSessionId: 'c1',
    });
  });

  it('creates a Question that its session owns, delivers and withdraws it', async () => {
    await start();
    await post([asked()]);
    const [made] = bench.api.list(Questions);
    expect(made).toMatchObject({
      metadata: {
        ownerReferences: [{kind: 'Session', uid: SESSION_UID}],
        labels: {'carrel.dev/session-uid': SESSION_UID},
      },
      spec: {session: 'one', turn: 't1', kind: 'Permission', requestId: 'r1', text: 'Write?', to: 'Owner'},
    });
    await post([{type: 'withdrawn', turnUid: 'turn-uid-1', requestId: 'r1'}], 2);
    const name = made?.metadata.name ?? '';
    expect(bench.api.get(Questions, ref(name))?.status?.deliveredAt).toBeDefined();
  });

  it('marks an answer delivered once, and only of its own session', async () => {
    const foreign = question({name: 'q2'});
    await start((api) => {
      api.put(Questions, question({status: {phase: 'Answered'}}));
      api.put(Questions, {...foreign, metadata: {...foreign.metadata, ownerReferences: []}});
    });
    const delivered = (name: string) => ({type: 'delivered', question: name, questionUid: `uid-of-${name}`, at});
    await post([delivered('q1'), delivered('q2'), delivered('q3')]);
    expect(bench.api.get(Questions, ref('q1'))?.status?.deliveredAt).toBeDefined();
    expect(bench.api.get(Questions, ref('q2'))?.status?.deliveredAt).toBeUndefined();
  });

  it('makes no Question for a turn that is over', async () => {
    await start((api) => void api.put(Turns, turn({status: {phase: 'Completed'}})));
    expect((await post([asked()])).status).toBe(200);
    expect(bench.api.list(Questions)).toEqual([]);
  });
});

describe('the context of a conversation', () => {
  it('is the end of the transcript, without numbers and hashes', async () => {
    await start();
    await post([record('a'), record('b')]);
    const {status, body} = await bench.call('GET', '/runner/v1/context');
    expect([status, body]).toEqual([
      200,
      {records: [record('a'), record('b')].map((r) => ('record' in r ? r.record : r))},
    ]);
  });

  it('of one record that is larger than allowed is its last part', async () => {
    await start();
    await post([record(`${'x'.repeat(100_000)}end`)]);
    const {body} = await bench.call('GET', '/runner/v1/context');
    const text = JSON.stringify(body);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('end');
  });
});
