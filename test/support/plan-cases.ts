import {expect, it} from 'vitest';
import type {Container} from '../../src/api/kube-pod.ts';
import type {SessionStatus, TurnStatus} from '../../src/api/v1alpha1/index.ts';
import {planSession} from '../../src/domain/session/plan.ts';
import type {SessionSeen} from '../../src/domain/session/seen.ts';
import {ago, POD_UID, pod, revisionData, SESSION_UID, seenWithPod} from './session-objects.ts';

// Rows of the tables that judge `planSession`, and what recurs in them.

export const gone: SessionSeen['pod'] = {kind: 'Gone', name: 'carrel-one-5e551011-1', uid: POD_UID};
export const bare = {pod: {kind: 'None'}} as const satisfies Partial<SessionSeen>;
export const going = {kind: 'Present' as const, pod: pod({phase: 'Running'}, {metadata: {deletionTimestamp: ago(1)}})};
export const running = {
  observedGeneration: 1,
  phase: 'Running',
  sequence: 1,
  sessionUID: SESSION_UID,
  podUID: POD_UID,
} as const satisfies TurnStatus;
export const queued = (sequence: number) =>
  ({observedGeneration: 1, phase: 'Queued', sequence, sessionUID: SESSION_UID}) as const satisfies TurnStatus;
export const entry = (name: string, sequence: number) => ({name, uid: `uid-${name}`, sequence});
export const works: SessionStatus = {
  phase: 'Running',
  activeTurn: entry('first', 1),
  admitted: [entry('first', 1)],
  lastSequence: 1,
  idleSince: undefined,
};
export const scheduled = (seconds: number) => [
  {type: 'PodScheduled', status: 'True', lastTransitionTime: ago(seconds)},
];
export const unready: SessionStatus = {phase: 'Starting', runner: undefined, idleSince: undefined};
export const pulls = (seconds: number, waiting: {reason: string; message?: string}) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Pending',
    conditions: scheduled(seconds),
    containerStatuses: [{name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {waiting}}],
  }),
});
export const agentRuns = (seconds: number) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Running',
    conditions: scheduled(seconds + 1),
    containerStatuses: [
      {
        name: 'agent',
        image: '',
        imageID: '',
        ready: true,
        restartCount: 0,
        state: {running: {startedAt: ago(seconds)}},
      },
    ],
  }),
});
export const agentEnded = (exitCode: number, reason?: string) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Failed',
    containerStatuses: [
      {name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode, reason}}},
    ],
  }),
});
export const runnerLoops = (restartCount: number) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Running',
    initContainerStatuses: [
      {
        name: 'runner',
        image: '',
        imageID: '',
        ready: false,
        restartCount,
        state: {waiting: {reason: 'CrashLoopBackOff'}},
      },
    ],
  }),
});
export const DELIVERIES = ['ImageVolume', 'InitContainer'] as const;
export const seeds = revisionData({workspace: {image: `registry.example/files@sha256:${'f'.repeat(64)}`}});
/** A session whose pod seeds a workspace, and how its seed container stands. */
export const seeding = (
  delivery: (typeof DELIVERIES)[number],
  state: {waiting: {reason: string; message: string}} | {terminated: {exitCode: number}},
  over: Partial<SessionSeen> = {},
) => {
  const seed = {name: 'seed', image: '', imageID: '', ready: false, restartCount: 0, state};
  const kubelet = {
    phase: 'terminated' in state ? 'Failed' : 'Pending',
    conditions: scheduled(3),
    initContainerStatuses: [seed],
  };
  return seenWithPod(unready, {
    current: {name: 'r', data: seeds},
    pod: {kind: 'Present', pod: pod(kubelet, {input: {revision: seeds, seed: true, delivery}})},
    ...over,
  });
};
export const seedRefused = (message: string, over: Partial<SessionSeen> = {}) =>
  seeding('ImageVolume', {waiting: {reason: 'CreateContainerError', message}}, over);
export const MOUNT = 'failed to mount image volume: ImageVolumeMountFailed:';
export const NO_FOLDER = `${MOUNT} failed to ensure image subpath "workspace" in "/run/x": openat workspace: no such file or directory`;
/** A session whose pod is as it was made, but for the images of these containers. */
export const imagesChanged = (
  delivery: (typeof DELIVERIES)[number],
  images: Record<string, string>,
  change = (c: Container): Container => c,
) => {
  const made = pod({phase: 'Running'}, {input: {revision: seeds, seed: true, delivery}});
  const swap = (c: Container) => change({...c, image: images[c.name] ?? c.image});
  const spec = {
    ...made.spec,
    containers: made.spec.containers.map(swap),
    initContainers: made.spec.initContainers?.map(swap),
  };
  return seenWithPod({}, {current: {name: 'r', data: seeds}, pod: {kind: 'Present', pod: {...made, spec}}});
};
export const nameless = (c: Container): Container => (c.name === 'runtime' ? {...c, env: []} : c);
export const report = (state: 'Failed' | 'Exited' | 'Restarting', more: object = {}): SessionStatus => ({
  runner: {podUID: POD_UID, epoch: 1, state, ...more},
});

/** A state, and the whole of what follows from it. */
export interface Case {
  seen: SessionSeen;
  phase: string;
  /** Reason of Ready. */
  ready: string;
  /** Steps, by name. */
  steps?: string[];
  /** More of the status. */
  status?: object;
  conditions?: string[];
  outcome?: object;
}

/** Each row twice: what is decided, and that a second look after it was written decides nothing more. */
export function checkPlans(cases: Readonly<Record<string, Case>>): void {
  it.each(Object.entries(cases))('%s', (_name, expected) => {
    const plan = planSession(expected.seen);
    expect(plan.status.phase).toBe(expected.phase);
    const ready = plan.status.conditions?.find((c) => c.type === 'Ready');
    expect(ready?.reason ?? '').toBe(expected.ready);
    if (expected.steps !== undefined) expect(plan.steps.map((s) => s.do)).toEqual(expected.steps);
    if (expected.status !== undefined) expect(plan.status).toMatchObject(expected.status);
    if (expected.conditions !== undefined)
      expect(plan.status.conditions?.map((c) => c.type)).toEqual(expected.conditions);
    if (expected.outcome !== undefined) expect(plan.outcome).toEqual(expected.outcome);
  });

  it.each(Object.entries(cases))('twice changes nothing: %s', (_name, {seen: first}) => {
    const plan = planSession(first);
    // What the steps do is not seen yet: the second look may ask for the same deletions, but must not move on by itself.
    if (plan.outcome.kind === 'wait' && plan.outcome.afterMs === 0) return;
    const written: SessionStatus = JSON.parse(JSON.stringify(plan.status));
    const turns = first.turns.map((t) => {
      const write = plan.turnWrites.find((w) => w.turn === t);
      return write === undefined ? t : {...t, status: write.status};
    });
    const ended = plan.steps.flatMap((s) => (s.do === 'EndTurn' ? [s.turn.metadata.uid] : []));
    const podNow = first.pod.kind === 'Gone' ? ({kind: 'None'} as const) : first.pod;
    const second = planSession({
      ...first,
      pod: podNow,
      session: {...first.session, status: written},
      turns: turns.filter((t) => !ended.includes(t.metadata.uid)),
    });
    if (first.pod.kind === 'Gone' && second.steps.some((s) => s.do === 'CreatePod')) return;
    expect(JSON.parse(JSON.stringify(second.status))).toEqual(written);
    expect(second.turnWrites).toEqual([]);
  });
}
