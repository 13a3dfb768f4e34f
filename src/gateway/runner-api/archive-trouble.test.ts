import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {type FakeClock, fakeClock} from '../../../test/support/fake-clock.ts';
import {type Bench, startBench} from '../../../test/support/runner-api-bench.ts';
import {POD_NAME, POD_UID, session, turn} from '../../../test/support/runner-objects.ts';
import {ArchiveError} from '../../domain/archive.ts';
import {Sessions, Turns} from '../../kube/kinds.ts';

let bench: Bench;
let clock: FakeClock;
beforeEach(async () => {
  clock = fakeClock();
  bench = await startBench((api) => {
    api.put(Sessions, session());
    api.put(Turns, turn());
  }, clock);
  bench.tokens.set('good', {uid: POD_UID, name: POD_NAME});
});
afterEach(() => bench.close());

const record = {type: 'record', record: {time: '2026-01-01T00:00:00Z', kind: 'message', text: 'a'}};
const ready = {type: 'report', state: 'Ready', findings: [{type: 'ToolsNotConnected', reason: 'x', message: 'y'}]};
const post = async (events: readonly object[], from = 1) =>
  (await bench.call('POST', '/runner/v1/events', {body: {podUid: POD_UID, epoch: 1, from, events}})).status;
const live = () => bench.api.get(Sessions, {namespace: 'team-a', name: 'one'});
const findings = () => live()?.status?.runner?.findings?.map((f) => f.type) ?? [];

describe('an archive that takes nothing', () => {
  it('is told at the session once that is no restart any more, in one write, and taken back when it takes again', async () => {
    expect(await post([ready])).toBe(200);
    bench.archiveError = new ArchiveError('Unavailable', 'archive: 507 the volume is full');
    expect(await post([record], 2)).toBe(503);
    await clock.advance(9_000);
    expect(await post([record], 2)).toBe(503);
    expect(findings()).toEqual(['ToolsNotConnected']);
    await clock.advance(1_000);
    expect(await post([record], 2)).toBe(503);
    expect(findings()).toEqual(['ToolsNotConnected', 'ArchiveUnavailable']);
    expect(live()?.status?.runner?.findings?.at(-1)?.message).toMatch(/nothing is lost while the pod stays/);
    const told = live()?.metadata.resourceVersion;
    for (const words of ['the operation was aborted due to timeout', 'it does not answer', 'connect ECONNREFUSED']) {
      bench.archiveError = new ArchiveError('Unavailable', words);
      await clock.advance(5_000);
      expect(await post([record], 2)).toBe(503);
    }
    expect(live()?.metadata.resourceVersion).toBe(told);
    bench.archiveError = undefined;
    expect(await post([record], 2)).toBe(200);
    expect(findings()).toEqual(['ToolsNotConnected']);
  });

  it('stays told while reports of the runner come, which know nothing of it', async () => {
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    expect(await post([ready])).toBe(503);
    await clock.advance(10_000);
    expect(await post([ready])).toBe(503);
    const told = live()?.metadata.resourceVersion;
    expect(await post([ready])).toBe(503);
    expect(findings()).toEqual(['ToolsNotConnected', 'ArchiveUnavailable']);
    expect(live()?.metadata.resourceVersion).toBe(told);
  });

  it('is told by no gateway that cannot write, and the runner gets its answer all the same', async () => {
    expect(await post([ready])).toBe(200);
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    await post([record], 2);
    await clock.advance(10_000);
    bench.api.fault = ({method}) => (method === 'PATCH' ? {status: 403, body: {}} : undefined);
    expect(await post([record], 2)).toBe(503);
    expect(bench.log.lines.map((l) => l.message)).toContain('the trouble with the archive could not be told');
  });

  it('is taken back by a batch that comes again, when it could not be taken back at once', async () => {
    expect(await post([ready])).toBe(200);
    bench.archiveError = new ArchiveError('Unavailable', 'away');
    await post([record], 2);
    await clock.advance(10_000);
    await post([record], 2);
    expect(findings()).toEqual(['ToolsNotConnected', 'ArchiveUnavailable']);
    bench.archiveError = undefined;
    bench.api.fault = ({method}) => (method === 'PATCH' ? {status: 403, body: {}} : undefined);
    expect(await post([record], 2)).not.toBe(200);
    bench.api.fault = () => undefined;
    expect(await post([record], 2)).toBe(200);
    expect(findings()).toEqual(['ToolsNotConnected']);
  });

  it('a refusal of what was sent is no trouble of the archive', async () => {
    expect(await post([ready])).toBe(200);
    bench.archiveError = new ArchiveError('Refused', 'archive: 400 no records');
    await post([record], 2);
    await clock.advance(60_000);
    expect(await post([record], 2)).toBe(422);
    expect(findings()).toEqual(['ToolsNotConnected']);
  });
});
