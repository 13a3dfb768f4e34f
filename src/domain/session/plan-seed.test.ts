import {describe} from 'vitest';
import {
  type Case,
  checkPlans,
  MOUNT,
  NO_FOLDER,
  pulls,
  seeding,
  seedRefused,
  unready,
} from '../../../test/support/plan-cases.ts';
import {pod, seen, seenWithPod} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'the node does not take image volumes': {
    seen: seenWithPod(unready, {pod: pulls(3, {reason: 'CreateContainerError', message: 'ImageVolumeMountFailed: x'})}),
    phase: 'Starting',
    ready: 'RuntimeSwitched',
    steps: ['SwitchDelivery', 'DeletePod'],
  },
  'the node does not take image volumes, and the delivery is fixed': {
    seen: seenWithPod(unready, {
      pod: pulls(3, {reason: 'CreateContainerError', message: `${MOUNT} x`}),
      settings: {...seen().settings, maySwitch: false},
    }),
    phase: 'Starting',
    ready: 'StartFailed',
    steps: [],
  },
  'the workspace image has no folder to seed from: nothing can mend this pod, and nothing is switched': {
    seen: seedRefused(NO_FOLDER),
    phase: 'Failed',
    ready: 'StartFailed',
    steps: ['DeletePod'],
    status: {stoppedReason: 'StartFailed'},
    conditions: ['Failed', 'Ready', 'Stalled'],
  },
  'the same as another container runtime says it': {
    seen: seedRefused(
      'ImageVolumeMountFailed: sub path "workspace" does not exist in image volume "registry.example/f"',
    ),
    phase: 'Failed',
    ready: 'StartFailed',
  },
  'the seed container found no folder to seed from in the image that it runs in': {
    seen: seeding('InitContainer', {terminated: {exitCode: 4}}),
    phase: 'Failed',
    ready: 'StartFailed',
    steps: ['DeletePod'],
  },
  'the workspace image cannot be mounted for another cause: it is told, and nothing is switched': {
    seen: seedRefused(`${MOUNT} failed to unpack image volume: unexpected EOF`),
    phase: 'Starting',
    ready: 'StartFailed',
    steps: [],
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'the workspace image does not exist': {
    seen: seeding('ImageVolume', {waiting: {reason: 'ErrImagePull', message: 'registry.example/files: not found'}}),
    phase: 'Failed',
    ready: 'ImagePull',
    status: {stoppedReason: 'ImagePull'},
  },
  'the node knows no image volumes, which its seed container is the first to meet': {
    seen: seedRefused('failed to mkdir "": mkdir : no such file or directory'),
    phase: 'Starting',
    ready: 'RuntimeSwitched',
    steps: ['SwitchDelivery', 'DeletePod'],
  },
  'the seed container failed': {
    seen: seenWithPod(unready, {
      pod: {
        kind: 'Present',
        pod: pod({
          phase: 'Failed',
          initContainerStatuses: [
            {name: 'seed', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 1}}},
          ],
        }),
      },
    }),
    phase: 'Failed',
    ready: 'StartFailed',
  },
  'the seed container found content without a marker': {
    seen: seenWithPod(unready, {
      pod: {
        kind: 'Present',
        pod: pod({
          phase: 'Failed',
          initContainerStatuses: [
            {name: 'seed', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 3}}},
          ],
        }),
      },
    }),
    phase: 'Failed',
    ready: 'SeedIncomplete',
    conditions: ['Failed', 'Ready', 'SeedIncomplete', 'Stalled'],
  },
};

describe('image volumes, and what a workspace is seeded from', () => {
  checkPlans(CASES);
});
