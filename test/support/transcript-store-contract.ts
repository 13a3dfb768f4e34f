import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import type {Append} from '../../src/api/wire/archive.ts';
import type {TranscriptRecord} from '../../src/api/wire/runner.ts';
import type {TranscriptStore} from '../../src/archive/store.ts';
import {chainStart, firstBreak} from '../../src/domain/transcript/chain.ts';

const session = {namespace: 'team-a', sessionUid: 'uid-1'};

/** A message record with this text. */
export function message(text: string, turn?: string): TranscriptRecord {
  return {
    time: '2026-01-01T00:00:00Z',
    kind: 'message',
    text,
    ...(turn === undefined ? {} : {turn: {uid: turn, sequence: 1}}),
  };
}

/** A batch of messages of one source, numbered from `from`. */
export function batchOf(from: number, texts: readonly string[], changes: Partial<Append> = {}): Append {
  return {
    namespace: session.namespace,
    session: {name: 'one', uid: session.sessionUid},
    source: 'pod-1',
    epoch: 1,
    from,
    records: texts.map((text) => message(text)),
    ...changes,
  };
}

/** What every TranscriptStore does; run it once for each implementation. */
export function transcriptStoreContract(name: string, open: () => Promise<TranscriptStore> | TranscriptStore): void {
  describe(`transcript store ${name}`, () => {
    let store: TranscriptStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());
    const texts = async (key = session) =>
      (await store.read({...key, after: 0, limit: 100})).records.map((r) => r.text);

    it('keeps records in order and numbers them from one', async () => {
      expect(await store.append(batchOf(1, ['a', 'b']))).toEqual({kind: 'stored', acked: 2, stored: 2});
      expect(await store.append(batchOf(3, ['c']))).toEqual({kind: 'stored', acked: 3, stored: 1});
      const {records, next} = await store.read({...session, after: 0, limit: 100});
      expect(records.map((r) => [r.n, r.text])).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]);
      expect(next).toBeUndefined();
    });

    it('stores a repeated batch once, and of an overlapping one only what is new', async () => {
      await store.append(batchOf(1, ['a', 'b']));
      expect(await store.append(batchOf(1, ['a', 'b']))).toEqual({kind: 'stored', acked: 2, stored: 0});
      expect(await store.append(batchOf(2, ['b', 'c']))).toEqual({kind: 'stored', acked: 3, stored: 1});
      expect(await texts()).toEqual(['a', 'b', 'c']);
    });

    it('refuses a gap, says what it has, and stores nothing', async () => {
      await store.append(batchOf(1, ['a']));
      expect(await store.append(batchOf(3, ['c']))).toEqual({kind: 'gap', acked: 1});
      expect(await store.append(batchOf(2, ['x'], {source: 'pod-2'}))).toEqual({kind: 'gap', acked: 0});
      expect(await texts()).toEqual(['a']);
    });

    it('counts every source and every epoch from one, in one order of the session', async () => {
      await store.append(batchOf(1, ['a']));
      await store.append(batchOf(1, ['b'], {epoch: 2}));
      await store.append(batchOf(1, ['c'], {source: 'turn/t1', epoch: 0}));
      expect(await texts()).toEqual(['a', 'b', 'c']);
    });

    it('counts numbers that carry no record, and stores nothing for them', async () => {
      const records = [null, message('a'), null];
      expect(await store.append({...batchOf(1, []), records})).toEqual({kind: 'stored', acked: 3, stored: 1});
      expect(await store.append(batchOf(4, ['b']))).toEqual({kind: 'stored', acked: 4, stored: 1});
      const page = await store.read({...session, after: 0, limit: 10});
      expect(page.records.map((r) => [r.n, r.text])).toEqual([
        [1, 'a'],
        [2, 'b'],
      ]);
    });

    it('keeps sessions apart by namespace and UID', async () => {
      await store.append(batchOf(1, ['a']));
      await store.append(batchOf(1, ['b'], {namespace: 'team-b'}));
      expect(await texts()).toEqual(['a']);
      expect(await texts({namespace: 'team-b', sessionUid: 'uid-1'})).toEqual(['b']);
      expect(await texts({namespace: 'team-a', sessionUid: 'unknown'})).toEqual([]);
    });

    it('chains every record to the one before, so that a change shows', async () => {
      await store.append(batchOf(1, ['a', 'b', 'c']));
      const {records} = await store.read({...session, after: 0, limit: 100});
      const start = chainStart(session.namespace, session.sessionUid);
      expect(firstBreak(records, start)).toBeUndefined();
      expect(
        firstBreak(
          records.map((r) => (r.n === 2 ? {...r, text: 'x'} : r)),
          start,
        ),
      ).toBe(2);
      expect(
        firstBreak(
          records.filter((r) => r.n !== 2),
          start,
        ),
      ).toBe(3);
    });

    it('pages with next, and reads the records of one turn', async () => {
      await store.append({...batchOf(1, []), records: [message('a', 't1'), message('b', 't2'), message('c', 't1')]});
      const first = await store.read({...session, after: 0, limit: 2});
      expect([first.records.length, first.next]).toEqual([2, 2]);
      const second = await store.read({...session, after: first.next ?? 0, limit: 2});
      expect([second.records.map((r) => r.text), second.next]).toEqual([['c'], undefined]);
      const turn = await store.read({...session, after: 0, limit: 10, turnUid: 't1'});
      expect(turn.records.map((r) => r.text)).toEqual(['a', 'c']);
    });

    it('gives the last records that fit, and at least one', async () => {
      await store.append(batchOf(1, ['a'.repeat(500), 'b'.repeat(500), 'c'.repeat(500)]));
      expect((await store.tail({...session, bytes: 1_300})).records.map((r) => r.n)).toEqual([2, 3]);
      expect((await store.tail({...session, bytes: 10})).records.map((r) => r.n)).toEqual([3]);
      expect((await store.tail({...session, sessionUid: 'unknown', bytes: 10})).records).toEqual([]);
    });

    it('forgets a session that is gone for long enough, step by step, and nothing else', async () => {
      const day = (n: number) => new Date(Date.UTC(2026, 0, n));
      const one = {namespace: 'team-a', name: 'one', uid: 'uid-1'};
      const two = {namespace: 'team-a', name: 'two', uid: 'uid-2'};
      await store.append(batchOf(1, ['a', 'b', 'c']));
      await store.append(batchOf(1, ['d'], {session: {name: 'two', uid: 'uid-2'}}));
      expect(await store.sessions()).toEqual([one, two]);
      expect(await store.forget(day(30), 10)).toEqual({records: 0, more: false});
      await store.markGone(one, day(2));
      await store.markGone(one, day(3));
      expect(await store.sessions()).toEqual([two]);
      expect(await store.sessions(day(2))).toEqual([]);
      expect(await store.sessions(day(3))).toEqual([one]);
      expect(await store.forget(day(2), 10)).toEqual({records: 0, more: false});
      expect(await store.forget(day(3), 2)).toEqual({records: 2, more: true});
      expect(await store.forget(day(3), 2)).toEqual({records: 1, more: false});
      expect(await texts()).toEqual([]);
      expect(await texts({namespace: 'team-a', sessionUid: 'uid-2'})).toEqual(['d']);
      expect(await store.append(batchOf(1, ['again']))).toEqual({kind: 'stored', acked: 1, stored: 1});
    });

    it('keeps a session that is back', async () => {
      const one = {namespace: 'team-a', name: 'one', uid: 'uid-1'};
      await store.append(batchOf(1, ['a']));
      await store.markGone(one, new Date(0));
      await store.markBack(one);
      expect(await store.sessions()).toEqual([one]);
      expect(await store.forget(new Date(), 10)).toEqual({records: 0, more: false});
      expect(await texts()).toEqual(['a']);
    });

    it('keeps a session that was taken for gone and gets one more record', async () => {
      await store.append(batchOf(1, ['a']));
      await store.markGone({namespace: 'team-a', name: 'one', uid: 'uid-1'}, new Date(0));
      await store.append(batchOf(2, ['late']));
      expect(await store.forget(new Date(), 10)).toEqual({records: 0, more: false});
      expect(await texts()).toEqual(['a', 'late']);
    });

    it('keeps data as it is, and mends texts that were cut inside a character', async () => {
      const data = {a: [1, {b: null}], ['__proto__']: 'x', é: 'ü'};
      await store.append({...batchOf(1, []), records: [{...message('half \ud83d'), data}]});
      const {records} = await store.read({...session, after: 0, limit: 10});
      expect(records[0]?.text).toBe('half \ufffd');
      expect(records[0]?.data).toMatchObject({a: [1, {b: null}], é: 'ü'});
      expect(firstBreak(records, chainStart(session.namespace, session.sessionUid))).toBeUndefined();
    });
  });
}
