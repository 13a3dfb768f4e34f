import {describe} from 'vitest';
import {
  agentRuns,
  type Case,
  checkPlans,
  MOUNT,
  NO_FOLDER,
  pulls,
  report,
  scheduled,
  seeding,
  seedRefused,
  unready,
} from '../../../test/support/plan-cases.ts';
import {ago, POD_UID, pod, revisionData, seen, seenWithPod, session} from '../../../test/support/session-objects.ts';

const CASES: Record<string, Case> = {
  'a new session with a prompt gets volume, first turn and attempt 1': {
    seen: seen({session: session(undefined, {prompt: 'hi'})}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume', 'CreateInitialTurn'],
    status: {attempt: 1, restart: 0, revision: 'scribe-a6e10000-x'},
    conditions: ['Ready', 'Reconciling'],
    outcome: {kind: 'wait', afterMs: 0},
  },
  'a new session without a prompt prepares its pod': {
    seen: seen(),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume'],
  },
  'a new session that shall sleep and has nothing to do gets no pod': {
    seen: seen({session: session(undefined, {desired: 'Sleeping'})}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: [],
    conditions: ['Ready'],
  },
  'a session that shall sleep runs its prompt first': {
    seen: seen({session: session(undefined, {desired: 'Sleeping', prompt: 'hi'})}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume', 'CreateInitialTurn'],
  },
  'the Agent is missing': {
    seen: seen({choice: {kind: 'Blocked', reason: 'AgentNotFound', message: 'create it'}}),
    phase: 'Pending',
    ready: 'AgentNotFound',
    steps: [],
    conditions: ['Ready', 'Stalled'],
    outcome: {kind: 'stalled', reason: 'AgentNotFound'},
  },
  'the Agent was applied in the same moment: a quiet wait, nothing to alarm anybody': {
    seen: seen({choice: {kind: 'Unjudged', message: 'being published'}}),
    phase: 'Pending',
    ready: 'Pending',
    steps: [],
    conditions: ['Ready', 'Reconciling'],
    outcome: {kind: 'done'},
  },
  'the attempt is written, its pod is not made yet': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreatePod'],
    status: {attempt: 1},
  },
  'the gateway has no address yet': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      addresses: undefined,
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    outcome: {kind: 'done'},
  },
  'an earlier pod is still there: no second one is made': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 2, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['DeletePod'],
  },
  'a pod that was made and not recorded is taken while its attempt starts': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreatePod'],
  },
  'cancelled when its pod was made and not recorded yet: the pod goes': {
    seen: seen({
      session: session({phase: 'Starting', attempt: 1, volume: {name: 'v', uid: 'vol'}}, {desired: 'Cancelled'}),
      current: {name: 'scribe-a6e10000-x', data: revisionData()},
      volume: 'Present',
      strays: [pod()],
    }),
    phase: 'Closed',
    ready: 'Cancelled',
    steps: ['DeletePod'],
  },
  'no node takes the pod': {
    seen: seenWithPod(unready, {
      pod: {
        kind: 'Present',
        pod: pod({
          phase: 'Pending',
          conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes'}],
        }),
      },
    }),
    phase: 'Starting',
    ready: 'Unschedulable',
    steps: [],
    outcome: {kind: 'done'},
  },
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
  'the runner has not reported and the limit is not over': {
    seen: seenWithPod(unready, {pod: agentRuns(30)}),
    phase: 'Starting',
    ready: 'Starting',
    outcome: {kind: 'wait', afterMs: 60_000},
  },
  'the runner was late to say that it starts the agent: its own clock runs from there': {
    seen: seenWithPod(
      {...unready, runner: {podUID: POD_UID, epoch: 1, state: 'Starting', reportedAt: ago(20)}},
      {pod: agentRuns(71)},
    ),
    phase: 'Starting',
    ready: 'Starting',
    outcome: {kind: 'wait', afterMs: 50_000},
  },
  'the runner did not report within the limit': {
    seen: seenWithPod(unready, {pod: agentRuns(91)}),
    phase: 'Failed',
    ready: 'StartFailed',
    steps: ['DeletePod'],
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
  'the runner reports a command that does not exist': {
    seen: seenWithPod({...unready, ...report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'})}),
    phase: 'Failed',
    ready: 'CommandNotFound',
    steps: ['DeletePod'],
    status: {stoppedReason: 'StartFailed'},
  },
  'the runner reports a reason that is not documented': {
    seen: seenWithPod({...unready, ...report('Failed', {reason: 'Whatever', message: 'x'})}),
    phase: 'Failed',
    ready: 'StartFailed',
  },
  'the agent ended for good': {
    seen: seenWithPod(report('Exited', {exit: {code: 3}})),
    phase: 'Failed',
    ready: 'AgentExited',
    status: {stoppedReason: 'AgentExited'},
  },
  'the agent ran out of memory': {
    seen: seenWithPod(report('Exited', {reason: 'AgentKilled', exit: {signal: 'SIGKILL', outOfMemory: true}})),
    phase: 'Failed',
    ready: 'OutOfMemory',
    status: {stoppedReason: 'OutOfMemory'},
  },
};

describe('how a session starts', () => {
  checkPlans(CASES);
});
