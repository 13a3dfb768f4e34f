import {createHash} from 'node:crypto';
import {afterEach, describe, expect, it} from 'vitest';
import {fakeClock} from '../../../test/support/fake-clock.ts';
import {type Bench, startWithTurn} from '../../../test/support/runner-api-bench.ts';
import {nameOf, POD_UID, question, ref, SESSION_UID, session, turn} from '../../../test/support/runner-objects.ts';
import {ConfigMaps} from '../../kube/builtin.ts';
import {Questions, Sessions, Turns} from '../../kube/kinds.ts';

let bench: Bench;
afterEach(() => bench.close());

describe('the desired stream', () => {
  it('delivers the running turn with the prompt as it stands in the API, not in the cache', async () => {
    bench = await startWithTurn();
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
    bench = await startWithTurn();
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
    bench = await startWithTurn((api) => void api.put(Questions, question()));
    const stream = await bench.open();
    expect((await stream.next())?.answers).toEqual([]);
    bench.api.put(Questions, question({spec: {answer: {option: 'y'}}, status: {phase: 'Answered'}}));
    expect((await stream.next())?.answers).toMatchObject([
      {question: nameOf('r1'), requestId: 'r1', outcome: 'Answered', option: 'y'},
    ]);
    stream.close();
  });

  it('names the questions that wait, so that whoever asks learns that one was deleted, also while no gateway ran', async () => {
    bench = await startWithTurn((api) => void api.put(Questions, question()));
    const stream = await bench.open();
    expect((await stream.next())?.questions).toEqual(['r1']);
    bench.api.drop(Questions, ref(nameOf('r1')));
    expect((await stream.next())?.questions).toEqual([]);
    stream.close();
    const after = await bench.open();
    expect((await after.next())?.questions).toEqual([]);
    after.close();
  });

  it('stops a turn that was deleted', async () => {
    bench = await startWithTurn();
    const stream = await bench.open();
    await stream.next();
    bench.api.drop(Turns, ref('t1'));
    expect((await stream.next())?.stop).toEqual({turnUid: 'turn-uid-1'});
    stream.close();
  });

  it('ends when the session names another pod, and the next request is fenced', async () => {
    bench = await startWithTurn();
    const stream = await bench.open();
    await stream.next();
    bench.api.put(Sessions, session({attempt: 2, pod: {name: 'carrel-one-aaaaaaaa-2', uid: 'pod-uid-2'}}));
    expect(await stream.next()).toBeUndefined();
    expect((await bench.open()).status).toBe(410);
  });

  it('waits with the document, rather than leaving the turn out, while the prompt cannot be read', async () => {
    bench = await startWithTurn();
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
    bench = await startWithTurn((api) => {
      api.put(ConfigMaps, {metadata: {...ref('big')}, data: {text}});
      api.put(Turns, turn({spec: {input: [{text: 'a'}, {from: {configMap: 'big', sha256}}]}}));
    });
    const stream = await bench.open();
    expect((await stream.next())?.turn?.input).toEqual([{text: 'a'}, {text}]);
    stream.close();
  });

  it('fails a turn whose ConfigMap is not what the turn names, and says which', async () => {
    bench = await startWithTurn((api) => {
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
    expect(await bench.texts()).toEqual([expect.stringContaining('ConfigMap big')]);
    stream.close();
  });

  it('keeps one stream for each pod: a new connection ends the old one', async () => {
    bench = await startWithTurn();
    const first = await bench.open();
    await first.next();
    const second = await bench.open();
    await second.next();
    expect(await first.next()).toBeUndefined();
    expect(bench.runnerApi.streams()).toBe(1);
    second.close();
  });

  it('ends its streams when the process is to stop', async () => {
    bench = await startWithTurn();
    const stream = await bench.open();
    await stream.next();
    await bench.runnerApi.drain(1);
    expect(await stream.next()).toBeUndefined();
  });

  it('ends when this replica has heard nothing of the cluster for long, and the next request is not served here', async () => {
    const clock = fakeClock();
    bench = await startWithTurn(undefined, clock);
    const stream = await bench.open();
    await stream.next();
    await clock.advance(30_000);
    bench.api.put(Turns, turn({spec: {stop: 'Interrupt'}}));
    expect(await stream.next()).toMatchObject({stop: {turnUid: 'turn-uid-1'}});
    // Calls still work: a replica may hear nothing and be able to read.
    bench.api.fault = ({query}) => (query.has('watch') ? {status: 503} : undefined);
    bench.api.endWatches('break');
    await expect.poll(() => bench.caches.of(Sessions).fresh()).toBe(false);
    await clock.advance(30_000);
    expect(await stream.next()).toBeUndefined();
    const refused = await bench.call('GET', '/runner/v1/desired');
    expect(refused).toMatchObject({status: 503, connection: 'close', body: {code: 'no_verdict'}});
  });
});
