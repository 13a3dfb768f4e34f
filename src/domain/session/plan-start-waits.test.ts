import {describe, expect, it} from 'vitest';
import {agentRuns, type Case, checkPlans, pulls, scheduled, unready} from '../../../test/support/plan-cases.ts';
import {ago, pod, seenWithPod} from '../../../test/support/session-objects.ts';
import {planSession} from './plan.ts';
import type {SessionSeen} from './seen.ts';

const CASES: Record<string, Case> = {
  'images are being pulled for 5 s': {
    seen: seenWithPod(unready, {pod: pulls(5, {reason: 'ContainerCreating'})}),
    phase: 'Starting',
    ready: 'Starting',
    outcome: {kind: 'wait', afterMs: 15_000},
  },
  'images are being pulled for 20 s': {
    seen: seenWithPod(unready, {pod: pulls(20, {reason: 'ContainerCreating'})}),
    phase: 'Starting',
    ready: 'ImagePullWaiting',
    conditions: ['ImagePullWaiting', 'Ready', 'Reconciling'],
    outcome: {kind: 'wait', afterMs: 160_000},
  },
  'images are not there after 3 min': {
    seen: seenWithPod(unready, {pod: pulls(180, {reason: 'ContainerCreating'})}),
    phase: 'Failed',
    ready: 'ImagePull',
    steps: ['DeletePod'],
    status: {stoppedReason: 'ImagePull', finishedAt: ago(0)},
    conditions: ['Failed', 'Ready', 'Stalled'],
  },
  'the image does not exist': {
    seen: seenWithPod(unready, {pod: pulls(1, {reason: 'ErrImagePull', message: 'r/x: not found'})}),
    phase: 'Failed',
    ready: 'ImagePull',
    steps: ['DeletePod'],
  },
  'the registry does not answer at the moment': {
    seen: seenWithPod(unready, {pod: pulls(30, {reason: 'ErrImagePull', message: 'i/o timeout'})}),
    phase: 'Starting',
    ready: 'ImagePullWaiting',
  },
  'a Secret of the environment is missing': {
    seen: seenWithPod(unready, {
      pod: pulls(3, {reason: 'CreateContainerConfigError', message: 'secret "key" not found'}),
    }),
    phase: 'Starting',
    ready: 'SecretNotFound',
    status: {heldSince: ago(0)},
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'a Secret is missing after images were pulled for longer than the start limit: it runs from images present': {
    seen: seenWithPod(unready, {
      pod: pulls(150, {reason: 'CreateContainerConfigError', message: 'secret "key" not found'}),
    }),
    phase: 'Starting',
    ready: 'SecretNotFound',
    status: {heldSince: ago(0)},
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'a Secret is still missing, and a part of the limit is over': {
    seen: seenWithPod(
      {...unready, heldSince: ago(45)},
      {pod: pulls(200, {reason: 'CreateContainerConfigError', message: 'secret "key" not found'})},
    ),
    phase: 'Starting',
    ready: 'SecretNotFound',
    status: {heldSince: ago(45)},
    outcome: {kind: 'wait', afterMs: 15_000},
  },
  'a container could not be made, after a long pull': {
    seen: seenWithPod(unready, {pod: pulls(170, {reason: 'CreateContainerError', message: 'no such device'})}),
    phase: 'Starting',
    ready: 'StartFailed',
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'a Secret was created: the agent starts, and its time begins anew': {
    seen: seenWithPod({...unready, heldSince: ago(59)}, {pod: agentRuns(1)}),
    phase: 'Starting',
    ready: 'Starting',
    status: {heldSince: undefined},
    outcome: {kind: 'wait', afterMs: 89_000},
  },
  'a Secret of a volume was missing, and images are pulled now': {
    seen: seenWithPod(
      {...unready, heldSince: ago(59)},
      {
        pod: {
          kind: 'Present',
          pod: pod({
            phase: 'Pending',
            conditions: [...scheduled(100), {type: 'PodReadyToStartContainers', status: 'True'}],
          }),
        },
        podWarnings: ['MountVolume.SetUp failed for volume "x" : secret "provider" not found'],
      },
    ),
    phase: 'Starting',
    ready: 'ImagePullWaiting',
    status: {heldSince: undefined},
  },
  'a volume cannot be attached for 20 s: no word of images': {
    seen: seenWithPod(unready, {
      pod: {kind: 'Present', pod: pod({phase: 'Pending', conditions: scheduled(30)})},
      podWarnings: ['Unable to attach or mount volumes: unmounted volumes=[carrel-data]'],
    }),
    phase: 'Starting',
    ready: 'Starting',
    conditions: ['Ready', 'Reconciling'],
    outcome: {kind: 'wait', afterMs: 150_000},
  },
  'a Secret of a volume is missing, as only the kubelet tells': {
    seen: seenWithPod(unready, {
      pod: pulls(10, {reason: 'ContainerCreating'}),
      podWarnings: ['MountVolume.SetUp failed for volume "carrel-model-key" : secret "provider" not found'],
    }),
    phase: 'Starting',
    ready: 'SecretNotFound',
  },
  'a Secret is still missing when the start limit is over': {
    seen: seenWithPod(
      {...unready, heldSince: ago(60)},
      {pod: pulls(200, {reason: 'CreateContainerConfigError', message: 'secret "key" not found'})},
    ),
    phase: 'Failed',
    ready: 'SecretNotFound',
    status: {stoppedReason: 'StartFailed'},
    steps: ['DeletePod'],
  },
};

describe('images, Secrets and volumes that a session waits for while it starts', () => {
  checkPlans(CASES);

  const unscheduled = (message: string): Partial<SessionSeen> => ({
    pod: {
      kind: 'Present',
      pod: pod({phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', message}]}),
    },
  });
  const refused = (message: string): Partial<SessionSeen> => ({
    pod: pulls(3, {reason: 'CreateContainerConfigError', message}),
  });
  it.each<[string, Partial<SessionSeen>, RegExp]>([
    [
      'no node has room: it goes on by itself, and what a corrected Agent needs',
      unscheduled('0/2 nodes are available: 2 Insufficient cpu'),
      /Insufficient cpu\. It goes on by itself when a node takes it; if the Agent has to be corrected, .*"restart":1/,
    ],
    [
      'a volume is never made: claim, class and the way out',
      unscheduled('pod has unbound immediate PersistentVolumeClaims'),
      /kubectl describe pvc carrel-one-5e551011 -n team\. If .*storageClassName, kubectl delete pvc carrel-one-5e551011 -n team/,
    ],
    [
      'a Secret is missing: what to do, and until when',
      refused('secret "key" not found'),
      /secret "key" not found; create it\. Mended within limits\.start \(60 s from \S+ on\), it goes on by itself$/,
    ],
    [
      'a key of a Secret is missing: the Secret is there',
      refused("couldn't find key token in Secret team/key"),
      /in Secret team\/key; add the key\. Mended/,
    ],
    [
      'an image is pulled for long: which one',
      {pod: pulls(20, {reason: 'ContainerCreating'})},
      /^images have been pulling for 20 s or more \(\S+@sha256:\S+\); another pull may be before them/,
    ],
  ])('%s', (_name, seen, says) => {
    const {conditions} = planSession(seenWithPod(unready, seen)).status;
    expect(conditions?.find((c) => c.type === 'Ready')?.message).toMatch(says);
  });
});
