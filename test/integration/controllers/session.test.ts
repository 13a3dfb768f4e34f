import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {PersistentVolumeClaims, Pods} from '../../../src/kube/builtin.ts';
import {Sessions, Turns} from '../../../src/kube/kinds.ts';
import {makePlace, type Place} from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await makePlace('session');
});
afterAll(async () => {
  await place.remove();
});

describe('a session from its prompt to its end', () => {
  it('is taken through volume, first turn, pod and runner to the answer, and says so in its conditions', async () => {
    await place.create('Session', 'whole', {agent: 'scribe', prompt: 'hello'});
    const started = await place.sessionIs(
      'whole',
      (s) => s.status?.pod !== undefined && s.status.initialTurn !== undefined,
    );
    const {namespace} = place;
    const claim = await place.client.get(PersistentVolumeClaims, {namespace, name: started.status?.volume?.name ?? ''});
    expect(claim.metadata.uid).toBe(started.status?.volume?.uid);
    const first = started.status?.initialTurn?.name ?? '';
    expect((await place.client.get(Turns, {namespace, name: first})).spec).toMatchObject({
      input: [{text: 'hello'}],
    });
    expect((await place.turnIs(first, (t) => t.status?.phase === 'Queued')).status?.sequence).toBe(1);
    await place.report('whole');
    const running = await place.turnIs(first, (t) => t.status?.phase === 'Running');
    expect(running.status?.podUID).toBe(started.status?.pod?.uid);
    await place.finish(first);
    const idle = await place.sessionIs('whole', (s) => s.status?.phase === 'Idle');
    expect(idle.status).toMatchObject({turns: 1, queued: 0});
    expect(idle.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([['Ready', 'True', 'Idle']]);
  });

  it('twice is a no-op: a new leader writes nothing', async () => {
    await place.settled();
    const before = await place.versions();
    await place.restart();
    await place.settled();
    expect(await place.versions()).toEqual(before);
  });

  it('deletion always finishes, in the background and in the foreground', async () => {
    await place.kubectl('delete', 'sessions.carrel.dev', 'whole', '--timeout=60s');
    await place.idle('other', {prompt: 'x'});
    await place.kubectl('delete', 'sessions.carrel.dev', 'other', '--cascade=foreground', '--timeout=60s');
    const {namespace} = place;
    await place.until('children are gone', async () => {
      const left = [
        ...(await place.client.list(Turns, {namespace})).items,
        ...(await place.client.list(Pods, {namespace})).items,
      ];
      return left.length === 0 ? true : undefined;
    });
  });
});

describe('waits end by a watch or a timer', () => {
  it('a pod that is lost while a turn runs: the turn ends as unknown, a new attempt follows by the watch', async () => {
    const session = await place.idle('lost', {prompt: 'x'});
    const first = session.status?.initialTurn?.name ?? '';
    await place.turnIs(first, (t) => t.status?.phase === 'Running');
    await place.kubectl('delete', 'pod', session.status?.pod?.name ?? '', '--force', '--grace-period=0');
    const turn = await place.turnIs(first, (t) => t.status?.phase === 'Failed');
    expect(turn.status?.error?.code).toBe('outcome_unknown');
    expect(place.archived.some((a) => a.source === `turn/${turn.metadata.uid}`)).toBe(true);
    const again = await place.sessionIs('lost', (s) => s.status?.attempt === 2 && s.status.pod !== undefined);
    expect(await place.pods()).toEqual([again.status?.pod?.name]);
    await place.kubectl('delete', 'sessions.carrel.dev', 'lost');
  });

  it('idle.sleepAfter ends by a timer; a turn wakes the session with the next attempt on the same volume', async () => {
    await place.patch('agents.carrel.dev', 'scribe', {idle: {sleepAfter: '1s'}});
    const agent = JSON.parse(await place.kubectl('get', 'agents.carrel.dev', 'scribe', '-o', 'json'));
    await place.until('published', async () => {
      const now = JSON.parse(await place.kubectl('get', 'agents.carrel.dev', 'scribe', '-o', 'json'));
      return now.status?.publishedGeneration === agent.metadata.generation ? true : undefined;
    });
    const {status} = await place.idle('tired');
    const asleep = await place.sessionIs('tired', (s) => s.status?.phase === 'Sleeping' && s.status.pod === undefined);
    expect(asleep.status).toMatchObject({stoppedReason: 'Idle', volume: status?.volume});
    expect(asleep.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Ready', 'True', 'Sleeping'],
    ]);
    await place.create('Turn', 'wake-up', {session: 'tired', input: [{text: 'hello'}]});
    const awake = await place.sessionIs('tired', (s) => s.status?.attempt === 2 && s.status.pod !== undefined);
    expect(awake.status?.volume).toEqual(status?.volume);
    await place.report('tired');
    await place.turnIs('wake-up', (t) => t.status?.phase === 'Running');
    await place.kubectl('delete', 'sessions.carrel.dev', 'tired');
  });

  it('ttlAfterFinished ends by a timer', async () => {
    await place.idle('brief', {ttlAfterFinished: '1s'});
    await place.patch('sessions.carrel.dev', 'brief', {desired: 'Closed'});
    await place.until('deleted', async () =>
      (await place.client.find(Sessions, {namespace: place.namespace, name: 'brief'})) === undefined ? true : undefined,
    );
  });
});

describe('what is stalled goes on when it is mended', () => {
  it('an Agent that does not exist', async () => {
    await place.create('Session', 'early', {agent: 'later', prompt: 'x'});
    const stalled = await place.sessionIs('early', (s) => s.status?.phase === 'Pending');
    expect(stalled.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Ready', 'False', 'AgentNotFound'],
      ['Stalled', 'True', 'AgentNotFound'],
    ]);
    const agent = JSON.parse(await place.kubectl('get', 'agents.carrel.dev', 'scribe', '-o', 'json'));
    await place.create('Agent', 'later', agent.spec);
    await place.sessionIs('early', (s) => s.status?.pod !== undefined);
    const events = await place.until('event', async () => {
      const text = await place.kubectl('get', 'events', '--field-selector', 'reason=AgentNotFound', '-o', 'name');
      return text === '' ? undefined : text;
    });
    expect(events.trim().split('\n')).toHaveLength(1);
  });

  it('a model that the Agent does not allow', async () => {
    await place.create('Session', 'picky', {agent: 'scribe', model: {name: 'other'}});
    const stalled = await place.sessionIs('picky', (s) => s.status?.phase === 'Pending');
    expect(stalled.status?.conditions?.[0]?.message).toContain('spec.model.name: other is not allowed by Agent scribe');
    await place.patch('sessions.carrel.dev', 'picky', {model: null});
    await place.sessionIs('picky', (s) => s.status?.pod !== undefined);
  });

  it('a failed start: restart leads out, and the prompt is not lost', async () => {
    await place.create('Session', 'broken', {agent: 'scribe', prompt: 'x'});
    await place.sessionIs('broken', (s) => s.status?.pod !== undefined);
    await place.report('broken', {state: 'Failed', reason: 'CommandNotFound', message: 'no /bin/agent in the image'});
    const failed = await place.sessionIs('broken', (s) => s.status?.phase === 'Failed' && s.status.pod === undefined);
    expect(failed.status).toMatchObject({stoppedReason: 'StartFailed', queued: 1});
    expect(failed.status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Failed', 'True', 'CommandNotFound'],
      ['Ready', 'False', 'CommandNotFound'],
      ['Stalled', 'True', 'CommandNotFound'],
    ]);
    await place.patch('sessions.carrel.dev', 'broken', {restart: 1});
    await place.sessionIs('broken', (s) => s.status?.attempt === 2 && s.status.pod !== undefined);
    await place.report('broken');
    await place.turnIs(failed.status?.initialTurn?.name ?? '', (t) => t.status?.phase === 'Running');
  });

  it('a quota that is used up', async () => {
    await place.kubectl('create', 'quota', 'none', '--hard=pods=0');
    await place.create('Session', 'poor', {agent: 'scribe'});
    const waiting = await place.sessionIs('poor', (s) => s.status?.conditions?.[0]?.reason === 'QuotaExceeded');
    expect(waiting.status).toMatchObject({phase: 'Starting', attempt: 1});
    await place.kubectl('delete', 'quota', 'none');
    await place.sessionIs('poor', (s) => s.status?.pod !== undefined);
  });

  it('a pod that a policy refuses is a failure with the cause, not a loop', async () => {
    const policy = refusePods(place.namespace);
    await place.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(policy));
    await place.until('the policy holds', async () => ((await podsRefused(place)) ? true : undefined));
    await place.create('Session', 'refused', {agent: 'scribe', prompt: 'x'});
    const failed = await place.sessionIs('refused', (s) => s.status?.phase === 'Failed');
    expect(failed.status).toMatchObject({stoppedReason: 'PolicyDenied', attempt: 1});
    expect(failed.status?.conditions?.map((c) => [c.type, c.reason])).toEqual([
      ['Failed', 'PodRejected'],
      ['Ready', 'PodRejected'],
      ['Stalled', 'PodRejected'],
    ]);
    expect(failed.status?.conditions?.[0]?.message).toContain('no pods here');
    await place.cluster.kubectl(['delete', '-f', '-'], JSON.stringify(policy));
    // A policy goes on refusing for a moment after it was deleted.
    await place.until('the policy is gone', async () => ((await podsRefused(place)) ? undefined : true));
    await place.patch('sessions.carrel.dev', 'refused', {restart: 1});
    await place.sessionIs('refused', (s) => s.status?.pod !== undefined && s.status.attempt === 2);
  });
});

/** Whether the API server refuses pods in this namespace now. */
function podsRefused({kubectl}: Place): Promise<boolean> {
  return kubectl('run', 'x', '--image=x', '--dry-run=server').then(
    () => false,
    () => true,
  );
}

function refusePods(namespace: string): object {
  const api = {apiVersion: 'admissionregistration.k8s.io/v1', metadata: {name: `${namespace}-no-pods`}};
  const resourceRules = [{apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE']}];
  const namespaceSelector = {matchLabels: {'kubernetes.io/metadata.name': namespace}};
  const spec = {
    matchConstraints: {resourceRules, namespaceSelector},
    validations: [{expression: 'false', message: 'no pods here'}],
  };
  const binding = {policyName: `${namespace}-no-pods`, validationActions: ['Deny']};
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {...api, kind: 'ValidatingAdmissionPolicy', spec},
      {...api, kind: 'ValidatingAdmissionPolicyBinding', spec: binding},
    ],
  };
}
