import {afterEach, describe, expect, it} from 'vitest';
import {type Bench, startWithTurn} from '../../../test/support/runner-api-bench.ts';
import {
  AT,
  asked,
  finished,
  nameOf,
  POD_UID,
  question,
  record,
  ref,
  SESSION_UID,
  turn,
} from '../../../test/support/runner-objects.ts';
import {ArchiveError} from '../../domain/archive.ts';
import {Questions, Sessions, Turns} from '../../kube/kinds.ts';

let bench: Bench;
afterEach(() => bench.close());

describe('events of a runner', () => {
  it('archives first, then ends the turn, and acknowledges', async () => {
    bench = await startWithTurn();
    const events = [record('a'), finished({usage: {inputTokens: 3, outputTokens: -1}})];
    expect(await bench.post(events)).toEqual({status: 200, body: {acked: 2}});
    expect(bench.api.get(Turns, ref('t1'))?.status).toMatchObject({
      phase: 'Completed',
      stopReason: 'EndTurn',
      response: 'done',
      usage: {inputTokens: 3},
      finishedAt: AT,
      archived: true,
      podUID: POD_UID,
    });
    expect(await bench.kinds()).toEqual(['message', 'turn_finished']);
  });

  it('the end of a turn that was asked to stop names the generation that asked, so that `kubectl wait` sees it', async () => {
    const stopped = turn({status: {observedGeneration: 1}});
    bench = await startWithTurn((api) => api.put(Turns, {...stopped, metadata: {...stopped.metadata, generation: 2}}));
    expect((await bench.post([finished({phase: 'Interrupted'})])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status).toMatchObject({phase: 'Interrupted', observedGeneration: 2});
  });

  it('archives the end of a turn once, where the runner told of it itself', async () => {
    bench = await startWithTurn();
    const told = {type: 'record', record: {time: AT, kind: 'turn_finished', turn: {uid: 'turn-uid-1', sequence: 2}}};
    expect(await bench.post([told, finished()])).toEqual({status: 200, body: {acked: 2}});
    expect(await bench.kinds()).toEqual(['turn_finished']);
  });

  it('stores and changes nothing twice when the acknowledgement was lost', async () => {
    bench = await startWithTurn();
    await bench.post([record('a'), finished(), asked()]);
    const before = bench.api.get(Turns, ref('t1'))?.metadata.resourceVersion;
    expect(await bench.post([record('a'), finished(), asked()])).toEqual({
      status: 200,
      body: {acked: 3, refused: [{requestId: 'r1', why: 'the agent took it back'}]},
    });
    expect(bench.api.get(Turns, ref('t1'))?.metadata.resourceVersion).toBe(before);
    expect(await bench.kinds()).toEqual(['message', 'turn_finished']);
  });

  it('changes no object while the archive is away, and asks to send again', async () => {
    bench = await startWithTurn();
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    expect(await bench.post([finished()])).toMatchObject({status: 503, body: {code: 'archive_unavailable'}});
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Running');
    bench.archiveError = undefined;
    expect((await bench.post([finished()])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
  });

  it('says so when the archive refuses a batch for good', async () => {
    bench = await startWithTurn();
    bench.archiveError = new ArchiveError('Refused', 'archive: 400 no records');
    expect(await bench.post([finished()])).toMatchObject({
      status: 422,
      body: {code: 'archive_refused', message: 'archive: 400 no records'},
    });
  });

  it('a start does not wait for the archive, its end does', async () => {
    bench = await startWithTurn();
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    const state = () => bench.api.get(Sessions, ref('one'))?.status?.runner?.state;
    expect((await bench.post([record('a'), {type: 'report', state: 'Ready'}])).status).toBe(503);
    expect(state()).toBe('Ready');
    expect((await bench.post([record('a'), {type: 'report', state: 'Failed', reason: 'X'}])).status).toBe(503);
    expect(state()).toBe('Ready');
    bench.archiveError = undefined;
    expect((await bench.post([record('a'), {type: 'report', state: 'Failed', reason: 'X'}])).status).toBe(200);
    expect(state()).toBe('Failed');
  });

  it('finishes the patch of a batch that was archived when the API server failed', async () => {
    bench = await startWithTurn();
    bench.api.fault = ({method}) => (method === 'PATCH' ? {status: 400, body: {}} : undefined);
    expect((await bench.post([record('a'), finished()])).status).not.toBe(200);
    bench.api.fault = () => undefined;
    expect(await bench.post([record('a'), finished()])).toEqual({status: 200, body: {acked: 2}});
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
    expect(await bench.kinds()).toEqual(['message', 'turn_finished']);
  });

  it('is sure of the end when the reply to its patch was lost', async () => {
    bench = await startWithTurn();
    let lost = 0;
    bench.api.fault = ({method}) => {
      if (method !== 'PATCH' || lost > 0) return undefined;
      lost += 1;
      return 'lose';
    };
    expect((await bench.post([finished()])).status).toBe(200);
    expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe('Completed');
  });

  it('tells a runner that left a gap where to go on', async () => {
    bench = await startWithTurn();
    await bench.post([record('a')]);
    expect(await bench.post([record('c')], 3)).toMatchObject({status: 409, body: {code: 'gap', acked: 1}});
  });

  const over = [
    {state: 'that another finisher ended', put: turn({status: {phase: 'Interrupted'}}), reason: 'turn_over'},
    {state: 'that runs in another pod', put: turn({status: {podUID: 'other'}}), reason: 'turn_not_ours'},
    {state: 'that was made anew under the same name', put: turn({uid: 'turn-uid-9'}), reason: 'turn_gone'},
  ];
  for (const row of over) {
    it(`archives the report of a turn ${row.state}, and leaves the object alone`, async () => {
      bench = await startWithTurn((api) => {
        api.drop(Turns, ref('t1'));
        api.put(Turns, row.put);
      });
      expect((await bench.post([finished()])).status).toBe(200);
      expect(bench.api.get(Turns, ref('t1'))?.status?.phase).toBe(row.put.status?.phase);
      expect(bench.log.lines.map((l) => l.fields)).toContainEqual(expect.objectContaining({reason: row.reason}));
      expect(await bench.kinds()).toEqual(['turn_finished']);
    });
  }

  it('writes the report of a start, keeps the conversation over reports that do not name it, and writes nothing twice', async () => {
    bench = await startWithTurn();
    await bench.post([
      {type: 'report', state: 'Starting'},
      {type: 'report', state: 'Ready', agentSessionId: 'c1', conversation: 'New', findings: []},
    ]);
    const written = bench.api.get(Sessions, ref('one'));
    expect(written?.status?.runner).toMatchObject({podUID: POD_UID, epoch: 1, state: 'Ready', agentSessionId: 'c1'});
    expect(JSON.stringify(written?.status?.runner)).not.toContain('findings');
    await bench.post([{type: 'report', state: 'Ready', agentSessionId: 'c1', conversation: 'New'}], 3);
    expect(bench.api.get(Sessions, ref('one'))?.metadata.resourceVersion).toBe(written?.metadata.resourceVersion);
    await bench.post([{type: 'report', state: 'Exited', exit: {code: 1}}], 4);
    expect(bench.api.get(Sessions, ref('one'))?.status?.runner).toMatchObject({
      state: 'Exited',
      exit: {code: 1},
      agentSessionId: 'c1',
    });
  });

  it('creates a Question that its session owns, delivers and withdraws it', async () => {
    bench = await startWithTurn();
    await bench.post([asked()]);
    const [made] = bench.api.list(Questions);
    expect(made).toMatchObject({
      metadata: {
        ownerReferences: [{kind: 'Session', uid: SESSION_UID}],
        labels: {'carrel.dev/session-uid': SESSION_UID},
      },
      spec: {session: 'one', turn: 't1', kind: 'Permission', requestId: 'r1', text: 'Write?', to: 'Owner'},
    });
    await bench.post([{type: 'withdrawn', turnUid: 'turn-uid-1', requestId: 'r1'}], 2);
    const name = made?.metadata.name ?? '';
    expect(bench.api.get(Questions, ref(name))?.status?.deliveredAt).toBeDefined();
  });

  it('marks an answer delivered once, and only of its own session', async () => {
    const foreign = question({name: 'q2'});
    bench = await startWithTurn((api) => {
      api.put(Questions, question({status: {phase: 'Answered'}}));
      api.put(Questions, {...foreign, metadata: {...foreign.metadata, ownerReferences: []}});
    });
    const delivered = (name: string) => ({type: 'delivered', question: name, questionUid: `uid-of-${name}`, at: AT});
    await bench.post([delivered(nameOf('r1')), delivered('q2'), delivered('q3')]);
    expect(bench.api.get(Questions, ref(nameOf('r1')))?.status?.deliveredAt).toBeDefined();
    expect(bench.api.get(Questions, ref('q2'))?.status?.deliveredAt).toBeUndefined();
  });

  it('makes no Question for a turn that is over', async () => {
    bench = await startWithTurn((api) => void api.put(Turns, turn({status: {phase: 'Completed'}})));
    expect((await bench.post([asked()])).status).toBe(200);
    expect(bench.api.list(Questions)).toEqual([]);
  });
});
