import {describe, expect, it} from 'vitest';
import {agentFixture, RANGE} from '../../../test/support/agent-fixture.ts';
import type {ControllerRevision} from '../../api/kube-core.ts';
import {planAgent} from './plan.ts';
import {agentUnixUid, buildRevision, parseRevision, revisionData, revisionName} from './revision.ts';
import {planSweep, SWEEP_AFTER_MS} from './sweep.ts';

const now = new Date('2026-01-01T00:00:00Z');
const stored = (data: unknown, name: string): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {name, namespace: 'team-a', uid: 'r', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z'},
  revision: 3,
  data,
});

const modelAt = (baseUrl: string) => ({name: 'm', dialect: 'OpenAIChat' as const, proxy: 'Loopback' as const, baseUrl});

describe('planAgent', () => {
  it('publishes a valid spec under the hash of its content', () => {
    const agent = agentFixture();
    const plan = planAgent({agent, stored: undefined, range: RANGE, now});
    expect(plan.create?.metadata.name).toBe(revisionName(revisionData(agent, RANGE)));
    expect(plan.status.publishedRevision).toBe(plan.create?.metadata.name);
    expect(plan.status.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Published', 'True', 'Published'],
      ['Ready', 'True', 'Published'],
    ]);
    expect(plan.event?.reason).toBe('Published');
  });

  it('does nothing the second time', () => {
    const first = planAgent({agent: agentFixture(), stored: undefined, range: RANGE, now});
    const agent = agentFixture({}, first.status);
    const revision = stored(first.create?.data, first.create?.metadata.name ?? '');
    const second = planAgent({agent, stored: revision, range: RANGE, now: new Date('2026-02-02T00:00:00Z')});
    expect(second.create).toBeUndefined();
    expect(second.event).toBeUndefined();
    expect(second.status).toEqual(first.status);
  });

  it('keeps the last good revision while an invalid change stands', () => {
    const good = planAgent({agent: agentFixture(), stored: undefined, range: RANGE, now}).status;
    const plan = planAgent({agent: agentFixture({groups: ['nonsense']}, good), stored: undefined, range: RANGE, now});
    expect(plan.create).toBeUndefined();
    expect(plan.status.publishedRevision).toBe(good.publishedRevision);
    expect(plan.status.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Published', 'False', 'UnknownGroup'],
      ['Ready', 'True', 'LastGoodServes'],
      ['Stalled', 'True', 'UnknownGroup'],
    ]);
    expect(plan.outcome).toEqual({kind: 'stalled', reason: 'UnknownGroup'});
    expect(plan.event?.note).toContain('spec.groups: nonsense does not exist; choose from');
  });

  it.each([
    ['a draft', agentFixture({draft: true}), 'Draft'],
    [
      'a base URL with a port that does not exist',
      agentFixture({model: modelAt('https://m.example:99999')}),
      'InvalidBaseUrl',
    ],
    ['a base URL with half an address', agentFixture({model: modelAt('https://[:::1]/v1')}), 'InvalidBaseUrl'],
    [
      'files that are too large in bytes',
      agentFixture({files: [{path: 'a', content: '漢'.repeat(40_000)}]}),
      'LaunchTooLarge',
    ],
  ])('publishes nothing for %s', (_state, agent, reason) => {
    const plan = planAgent({agent, stored: undefined, range: RANGE, now});
    expect(plan.create).toBeUndefined();
    expect(plan.status.conditions?.find((c) => c.type === 'Published')?.reason).toBe(reason);
    expect(plan.status.conditions?.find((c) => c.type === 'Ready')?.reason).toBe('NotPublished');
  });

  it('says what may stand in a base URL, and takes an IPv6 address in brackets', () => {
    const agent = agentFixture({model: modelAt('https://m.example:99999')});
    const told = planAgent({agent, stored: undefined, range: RANGE, now}).event?.note;
    expect(told).toContain('spec.model.baseUrl: https://m.example:99999 cannot be used');
    expect(told).toContain('an IPv6 address in brackets');
    const plain = agentFixture({model: modelAt('https://[2606:4700::1111]:8443/v1')});
    expect(planAgent({agent: plain, stored: undefined, range: RANGE, now}).create).toBeDefined();
  });

  it('makes a stored revision anew whose content is not what its name says', () => {
    const agent = agentFixture();
    const data = revisionData(agent, RANGE);
    const forged = stored({...data, spec: {...data.spec, command: ['/bin/evil']}}, revisionName(data));
    expect(parseRevision(forged)).toEqual({problem: 'HashMismatch'});
    expect(planAgent({agent, stored: forged, range: RANGE, now}).create).toBeDefined();
  });
});

describe('revisions', () => {
  it('come back under the same name when a spec comes back', () => {
    const a = revisionData(agentFixture(), RANGE);
    const later = {...agentFixture(), metadata: {...agentFixture().metadata, generation: 9}};
    expect(revisionName(revisionData(later, RANGE))).toBe(revisionName(a));
    expect(revisionName(revisionData(agentFixture({description: 'other'}), RANGE))).not.toBe(revisionName(a));
  });

  it('round-trip through the stored form', () => {
    const data = revisionData(agentFixture(), RANGE);
    const built = buildRevision(data, 'team-a');
    expect(parseRevision(stored(JSON.parse(JSON.stringify(built.data)), built.metadata.name))).toEqual({data});
  });

  it('give an agent a unix uid inside the range', () => {
    for (const uid of ['a', 'b', 'c']) {
      const unix = agentUnixUid(uid, {first: 10, last: 12});
      expect(unix).toBeGreaterThanOrEqual(10);
      expect(unix).toBeLessThanOrEqual(12);
    }
  });
});

describe('planSweep', () => {
  it.each([
    ['referenced', {referenced: true, unreferencedSince: undefined, now}, {kind: 'keep'}],
    [
      'first seen without reference',
      {referenced: false, unreferencedSince: undefined, now},
      {kind: 'later', afterMs: SWEEP_AFTER_MS},
    ],
    [
      'ten minutes without reference',
      {referenced: false, unreferencedSince: new Date(now.getTime() - SWEEP_AFTER_MS), now},
      {kind: 'sweep'},
    ],
  ])('%s', (_state, seen, decision) => {
    expect(planSweep(seen)).toEqual(decision);
  });
});
