import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {AgentObject} from '../../../src/api/v1alpha1/index.ts';
import {ControllerRevisions, NetworkPolicies, ServiceAccounts} from '../../../src/kube/builtin.ts';
import {Agents} from '../../../src/kube/kinds.ts';
import {makePlace, type Place} from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await makePlace('agent');
});
afterAll(async () => {
  await place.remove();
});

const agent = () => place.client.get(Agents, {namespace: place.namespace, name: 'scribe'});
const conditions = ({status}: AgentObject) =>
  Object.fromEntries((status?.conditions ?? []).map((c) => [c.type, `${c.status} ${c.reason}`]));
/** Waits until the present spec was judged, with this outcome. */
const judged = (ready: string, published: string) =>
  place.until(`Ready ${ready}, Published ${published}`, async () => {
    const now = await agent();
    const {Ready, Published} = conditions(now);
    const seen = now.status?.observedGeneration === now.metadata.generation;
    return seen && Ready === ready && Published === published ? now : undefined;
  });
// 10 arguments of 4,096 characters of three bytes each: the schema counts characters, a pod counts bytes.
const huge = Array.from({length: 10}, () => '€'.repeat(4_096));

describe('agents', () => {
  it('one that is valid is published as an immutable revision, with the objects that isolate its pods', async () => {
    const {status} = await judged('True Published', 'True Published');
    const revisions = (await place.client.list(ControllerRevisions, {namespace: place.namespace})).items;
    expect(revisions.map((r) => r.metadata.name)).toEqual([status?.publishedRevision]);
    expect(revisions[0]?.metadata.ownerReferences).toBeUndefined();
    const shared = [
      ...(await place.client.list(ServiceAccounts, {namespace: place.namespace})).items,
      ...(await place.client.list(NetworkPolicies, {namespace: place.namespace})).items,
    ].filter((o) => o.metadata.name.startsWith('carrel-'));
    expect(shared).toHaveLength(2);
  });

  it('twice is a no-op: a new leader writes nothing', async () => {
    await place.settled();
    const version = async () => (await agent()).metadata.resourceVersion;
    const before = await version();
    await place.restart();
    await place.settled();
    expect(await version()).toBe(before);
  });

  it('a revision that somebody deletes is published again, by the watch', async () => {
    const name = (await agent()).status?.publishedRevision ?? '';
    const old = await place.client.get(ControllerRevisions, {namespace: place.namespace, name});
    await place.kubectl('delete', 'controllerrevision', name);
    const again = await place.until('published again', async () => {
      const found = await place.client.find(ControllerRevisions, {namespace: place.namespace, name});
      return found === undefined || found.metadata.uid === old.metadata.uid ? undefined : found;
    });
    expect(again).toMatchObject({data: JSON.parse(JSON.stringify(Reflect.get(old, 'data')))});
  });

  it('an invalid change leaves the last good revision serving, and stalled clears when it is corrected', async () => {
    const serving = (await agent()).status?.publishedRevision;
    await place.patch('agents.carrel.dev', 'scribe', {args: huge});
    const stuck = await judged('True LastGoodServes', 'False LaunchTooLarge');
    expect(stuck.status?.publishedRevision).toBe(serving);
    expect(conditions(stuck)).toMatchObject({Stalled: 'True LaunchTooLarge'});
    expect(stuck.status?.conditions?.find((c) => c.type === 'Stalled')?.message).toMatch(/take [0-9]+ bytes together/);
    await place.settled();
    const events = await place.kubectl('get', 'events', '--field-selector', 'reason=LaunchTooLarge', '-o', 'name');
    expect(events.trim().split('\n')).toHaveLength(1);
    await place.patch('agents.carrel.dev', 'scribe', {args: ['small']});
    const fine = await judged('True Published', 'True Published');
    expect(conditions(fine)).not.toHaveProperty('Stalled');
    expect(fine.status?.publishedRevision).not.toBe(serving);
  });

  it('a draft is not published; the last good revision goes on serving', async () => {
    const serving = (await agent()).status?.publishedRevision;
    await place.patch('agents.carrel.dev', 'scribe', {draft: true, args: ['other']});
    const draft = await judged('True LastGoodServes', 'False Draft');
    expect(draft.status?.publishedRevision).toBe(serving);
    expect(conditions(draft)).not.toHaveProperty('Stalled');
    await place.patch('agents.carrel.dev', 'scribe', {draft: false});
    expect((await judged('True Published', 'True Published')).status?.publishedRevision).not.toBe(serving);
  });

  it('deletion always finishes', async () => {
    await place.kubectl('delete', 'agents.carrel.dev', 'scribe', '--timeout=60s');
    expect(await place.client.find(Agents, {namespace: place.namespace, name: 'scribe'})).toBeUndefined();
  });
});
