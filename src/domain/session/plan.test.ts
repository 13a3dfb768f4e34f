import {describe, expect, it} from 'vitest';
import {
  ago,
  NOW,
  POD_UID,
  pod,
  question,
  READY,
  revisionData,
  SESSION_UID,
  seen,
  seenWithPod,
  session,
  turn,
} from '../../../test/support/session-objects.ts';
import type {Container} from '../../api/kube-pod.ts';
import type {SessionStatus, TurnStatus} from '../../api/v1alpha1/index.ts';
import {planSession} from './plan.ts';
import type {SessionSeen} from './seen.ts';

const gone: SessionSeen['pod'] = {kind: 'Gone', name: 'carrel-one-5e551011-1', uid: POD_UID};
const bare = {pod: {kind: 'None'}} as const satisfies Partial<SessionSeen>;
const going = {kind: 'Present' as const, pod: pod({phase: 'Running'}, {metadata: {deletionTimestamp: ago(1)}})};
const running = {
  observedGeneration: 1,
  phase: 'Running',
  sequence: 1,
  sessionUID: SESSION_UID,
  podUID: POD_UID,
} as const satisfies TurnStatus;
const queued = (sequence: number) =>
  ({observedGeneration: 1, phase: 'Queued', sequence, sessionUID: SESSION_UID}) as const satisfies TurnStatus;
const entry = (name: string, sequence: number) => ({name, uid: `uid-${name}`, sequence});
const works: SessionStatus = {
  phase: 'Running',
  activeTurn: entry('first', 1),
  admitted: [entry('first', 1)],
  lastSequence: 1,
  idleSince: undefined,
};
const scheduled = (seconds: number) => [{type: 'PodScheduled', status: 'True', lastTransitionTime: ago(seconds)}];
const unready: SessionStatus = {phase: 'Starting', runner: undefined, idleSince: undefined};
const pulls = (seconds: number, waiting: {reason: string; message?: string}) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Pending',
    conditions: scheduled(seconds),
    containerStatuses: [{name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {waiting}}],
  }),
});
const agentRuns = (seconds: number) => ({
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
const agentEnded = (exitCode: number, reason?: string) => ({
  kind: 'Present' as const,
  pod: pod({
    phase: 'Failed',
    containerStatuses: [
      {name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode, reason}}},
    ],
  }),
});
const runnerLoops = (restartCount: number) => ({
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
const DELIVERIES = ['ImageVolume', 'InitContainer'] as const;
const seeds = revisionData({workspace: {image: `registry.example/files@sha256:${'f'.repeat(64)}`}});
/** A session whose pod seeds a workspace, and how its seed container stands. */
const seeding = (
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
const seedRefused = (message: string, over: Partial<SessionSeen> = {}) =>
  seeding('ImageVolume', {waiting: {reason: 'CreateContainerError', message}}, over);
const MOUNT = 'failed to mount image volume: ImageVolumeMountFailed:';
const NO_FOLDER = `${MOUNT} failed to ensure image subpath "workspace" in "/run/x": openat workspace: no such file or directory`;
/** A session whose pod is as it was made, but for the images of these containers. */
const imagesChanged = (
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
const nameless = (c: Container): Container => (c.name === 'runtime' ? {...c, env: []} : c);
const report = (state: 'Failed' | 'Exited' | 'Restarting', more: object = {}): SessionStatus => ({
  runner: {podUID: POD_UID, epoch: 1, state, ...more},
});

interface Case {
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
  'a failed session stays as it is until restart is raised': {
    seen: seenWithPod({phase: 'Failed', restart: 0, finishedAt: ago(10), conditions: []}, {pod: gone}),
    phase: 'Failed',
    ready: '',
    steps: [],
    status: {pod: undefined},
  },
  'restart leads out of a failure, with a new attempt on the old volume': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, finishedAt: ago(10), stoppedReason: 'ImagePull'},
      {pod: {kind: 'None'}},
      {restart: 1},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    status: {attempt: 2, restart: 1, stoppedReason: undefined, finishedAt: undefined},
  },
  'restart while a pod runs replaces the pod first': {
    seen: seenWithPod({}, {}, {restart: 1}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['DeletePod'],
    status: {attempt: 1},
  },
  'a failed session is deleted when its time is over': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, finishedAt: ago(7 * 86_400), conditions: []},
      {pod: {kind: 'None'}},
    ),
    phase: 'Failed',
    ready: '',
    steps: ['DeleteSession'],
  },
  'ready and nothing to do': {
    seen: seenWithPod(),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'wait', afterMs: 590_000},
  },
  'idle for long enough': {
    seen: seenWithPod({idleSince: ago(600)}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Idle', pod: READY.pod, idleSince: ago(600)},
  },
  'idle for longer than closeAfter': {
    seen: seenWithPod(
      {idleSince: ago(3_600)},
      {current: {name: 'r', data: revisionData({idle: {sleepAfter: '10m', closeAfter: '1h'}})}},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Idle'},
  },
  'the gateway moved to another address while idle': {
    seen: seenWithPod({}, {addresses: {gateway: '10.0.0.9', egress: '10.0.0.2'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'shall sleep and is idle': {
    seen: seenWithPod({}, {}, {desired: 'Sleeping'}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: ['DeletePod'],
  },
  'shall sleep and a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}, {desired: 'Sleeping'}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
  },
  'asleep, its pod is gone': {
    seen: seenWithPod({phase: 'Sleeping', stoppedReason: 'Idle'}, {pod: gone}),
    phase: 'Sleeping',
    ready: 'Sleeping',
    steps: [],
    status: {pod: undefined},
  },
  'asleep and a turn comes': {
    seen: seenWithPod(
      {phase: 'Sleeping', pod: undefined, stoppedReason: 'Idle'},
      {pod: {kind: 'None'}, turns: [turn('first')]},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: [],
    status: {attempt: 2, stoppedReason: undefined, admitted: [entry('first', 1)], queued: 1},
  },
  'falling asleep and a turn comes: it waits until the pod is gone': {
    seen: seenWithPod({phase: 'Sleeping'}, {pod: going, turns: [turn('first')]}),
    phase: 'Sleeping',
    ready: 'Starting',
    steps: [],
  },
  'asleep, its pod is gone and a turn waits: this is no loss': {
    seen: seenWithPod(
      {phase: 'Sleeping', admitted: [entry('first', 1)], lastSequence: 1},
      {pod: gone, turns: [turn('first', queued(1))]},
    ),
    phase: 'Starting',
    ready: 'Starting',
    status: {attempt: 2, pod: undefined},
  },
  'a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
    conditions: ['Ready'],
    outcome: {kind: 'done'},
  },
  'a turn runs and asks for leave': {
    seen: seenWithPod(works, {turns: [turn('first', running)], questions: [question('q', {kind: 'Permission'})]}),
    phase: 'NeedsInput',
    ready: 'NeedsInput',
    status: {questions: 1},
  },
  'a question was answered': {
    seen: seenWithPod(works, {turns: [turn('first', running)], questions: [question('q', {answer: {text: 'green'}})]}),
    phase: 'Running',
    ready: 'Running',
    status: {questions: 0},
  },
  'a question of a turn that is over does not hold the session': {
    seen: seenWithPod(
      {},
      {turns: [turn('first', {phase: 'Completed', sessionUID: SESSION_UID})], questions: [question('q')]},
    ),
    phase: 'Idle',
    ready: 'Idle',
    status: {questions: 1},
  },
  'the runner restarts in the middle of a turn': {
    seen: seenWithPod({...works, ...report('Restarting')}, {turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'RunnerRestarting',
    conditions: ['Ready', 'Reconciling', 'RunnerRestarting'],
  },
  'the process beside the agent is silent and may come back': {
    seen: seenWithPod(report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(100)})),
    phase: 'Idle',
    ready: 'AgentUnresponsive',
    steps: [],
    outcome: {kind: 'wait', afterMs: 20_000},
  },
  'the process beside the agent was stopped and does not come back: another pod is tried': {
    seen: seenWithPod(report('Restarting', {reason: 'AgentUnresponsive', reportedAt: ago(120)})),
    phase: 'Idle',
    ready: 'AgentUnresponsive',
    steps: ['DeletePod'],
    status: {stoppedReason: 'AgentExited'},
  },
  'an agent that waits for its network to be closed again is waited for': {
    seen: seenWithPod(report('Restarting', {reason: 'NetworkNotIsolated', reportedAt: ago(900)})),
    phase: 'Idle',
    ready: 'NetworkNotIsolated',
    steps: [],
  },
  'the runner found the volume not writable': {
    seen: seenWithPod({
      runner: {
        podUID: POD_UID,
        epoch: 1,
        state: 'Ready',
        findings: [
          {type: 'VolumeNotWritable', reason: 'VolumeNotWritable', message: 'm'},
          {type: 'Ready', reason: 'Idle', message: 'm'},
        ],
      },
    }),
    phase: 'Idle',
    ready: 'Idle',
    conditions: ['Ready', 'VolumeNotWritable'],
  },
  'the node does not answer while a turn runs': {
    seen: seenWithPod(works, {node: 'Unreachable', turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'NodeUnreachable',
    steps: [],
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
  },
  'the pod is lost while a turn runs': {
    seen: seenWithPod(works, {pod: gone, turns: [turn('first', running)]}),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['EndTurn'],
    status: {attempt: 2, pod: undefined, activeTurn: undefined, admitted: undefined, turns: 1},
  },
  'the pod is lost for the third time within ten minutes': {
    seen: seenWithPod(
      {
        timeline: [
          ...(READY.timeline ?? []),
          {time: ago(300), event: 'Lost', note: 'a'},
          {time: ago(200), event: 'Started'},
          {time: ago(100), event: 'Lost', note: 'Evicted: disk'},
          {time: ago(90), event: 'Started'},
        ],
      },
      {pod: gone},
    ),
    phase: 'Failed',
    ready: 'PodLost',
  },
  'the runner ends again and again after it had been ready: another pod is tried': {
    seen: seenWithPod(works, {pod: runnerLoops(5), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'PodLost',
    steps: ['DeletePod'],
  },
  'the runner ended some times and may come back': {
    seen: seenWithPod(works, {pod: runnerLoops(4), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'Running',
    steps: [],
  },
  'the pod was evicted': {
    seen: seenWithPod(
      {},
      {pod: {kind: 'Present', pod: pod({phase: 'Failed', reason: 'Evicted', message: 'low on memory'})}},
    ),
    phase: 'Idle',
    ready: 'Evicted',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Evicted'},
  },
  'the ServiceAccount was deleted and made again: tokens are void, the pod is replaced': {
    seen: seenWithPod(works, {accountSince: ago(94), turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
    status: {stoppedReason: 'ServiceAccountReplaced'},
  },
  'the ServiceAccount was made again before the runner reported: no failure of the start': {
    seen: seenWithPod(unready, {accountSince: ago(94)}),
    phase: 'Starting',
    ready: 'ServiceAccountReplaced',
    steps: ['DeletePod'],
  },
  'the ServiceAccount is a little younger than its pod: two clocks': {
    seen: seenWithPod({}, {accountSince: ago(95)}),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
  },
  'the ServiceAccount is missing for a moment: it is made again, and then its pods go': {
    seen: seenWithPod({}, {accountSince: undefined}),
    phase: 'Idle',
    ready: 'Idle',
    steps: [],
  },
  'the agent container was killed for memory after it had been ready': {
    seen: seenWithPod({}, {pod: agentEnded(137, 'OOMKilled')}),
    phase: 'Idle',
    ready: 'OutOfMemory',
    steps: ['DeletePod'],
  },
  'the agent container was ended by order before the runner reported, so the agent is not blamed': {
    seen: seenWithPod(unready, {pod: agentEnded(0)}),
    phase: 'Failed',
    ready: 'PodLost',
    steps: ['DeletePod'],
  },
  'the agent container ended before the runner reported': {
    seen: seenWithPod(unready, {pod: agentEnded(1)}),
    phase: 'Failed',
    ready: 'AgentExited',
    steps: ['DeletePod'],
  },
  'somebody added a debug container': {
    seen: seenWithPod(
      {},
      {
        pod: {
          kind: 'Present',
          pod: pod({phase: 'Running'}, {spec: {ephemeralContainers: [{name: 'debug', image: 'x'}]}}),
        },
      },
    ),
    phase: 'Failed',
    ready: 'PodMutated',
    steps: ['DeletePod'],
  },
  ...Object.fromEntries(
    DELIVERIES.flatMap((delivery) => [
      [
        `${delivery}: every image is as the pod was made`,
        {seen: imagesChanged(delivery, {}), phase: 'Idle', ready: 'Idle'},
      ],
      ...['runner', 'seed', 'agent'].map((name) => [
        `${delivery}: somebody swapped the image of ${name}`,
        {seen: imagesChanged(delivery, {[name]: 'evil'}), phase: 'Failed', ready: 'PodMutated', steps: ['DeletePod']},
      ]),
    ]),
  ),
  'somebody swapped the images of the runner and of the container that copied the runtime, alike': {
    seen: imagesChanged('InitContainer', {runner: 'evil', runtime: 'evil'}),
    phase: 'Failed',
    ready: 'PodMutated',
    steps: ['DeletePod'],
  },
  'a pod of an earlier release copied the runtime, and names its image nowhere else': {
    seen: imagesChanged('InitContainer', {}, nameless),
    phase: 'Idle',
    ready: 'Idle',
  },
  'the same, and somebody swapped the image of the runner': {
    seen: imagesChanged('InitContainer', {runner: 'evil'}, nameless),
    phase: 'Failed',
    ready: 'PodMutated',
  },
  'the volume is gone': {
    seen: seenWithPod({}, {volume: 'Lost'}),
    phase: 'Failed',
    ready: 'WorkspaceLost',
    steps: ['DeletePod'],
  },
  'the volume is gone and restart was raised': {
    seen: seenWithPod(
      {phase: 'Failed', pod: undefined, seeded: true},
      {pod: {kind: 'None'}, volume: 'Lost'},
      {restart: 1},
    ),
    phase: 'Starting',
    ready: 'Starting',
    steps: ['CreateVolume'],
    status: {seeded: undefined, attempt: 2},
  },
  'shall close while a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running), turn('second')]}, {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['EndTurn'],
    status: {activeTurn: entry('first', 1), stoppedReason: 'Closed'},
  },
  'shall close while a turn ran in a pod that was evicted: nothing will end it but the end of the pod': {
    seen: seenWithPod(
      works,
      {
        pod: {kind: 'Present', pod: pod({phase: 'Failed', reason: 'Evicted', message: 'low on memory'})},
        turns: [turn('first', running)],
      },
      {desired: 'Closed'},
    ),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
  },
  'shall close when a turn was chosen and not handed over: it never runs': {
    seen: seenWithPod(works, {turns: [turn('first', queued(1))]}, {desired: 'Closed'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod', 'EndTurn'],
    status: {activeTurn: undefined},
  },
  'shall not close any more while it closes: it closes all the same, and says why': {
    seen: seenWithPod({phase: 'Closing', stoppedReason: 'Cancelled', pod: undefined}, {pod: gone}, {desired: 'Active'}),
    phase: 'Closed',
    ready: 'ClosedForGood',
    status: {stoppedReason: 'Cancelled'},
    conditions: ['Complete', 'Ready', 'Stalled'],
  },
  'closed and shall be active again: it says that it is closed for good, and is on no way to it': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Closed', pod: undefined, finishedAt: ago(9)}, bare),
    phase: 'Closed',
    ready: 'ClosedForGood',
    steps: [],
    conditions: ['Complete', 'Ready', 'Stalled'],
  },
  'closed as asked, and looked at once more': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Closed', pod: undefined, finishedAt: ago(9)}, bare, {
      desired: 'Closed',
    }),
    phase: 'Closed',
    ready: 'Closed',
    conditions: ['Complete', 'Ready'],
  },
  'closed by the limit of its Agent: nobody asked for anything else': {
    seen: seenWithPod({phase: 'Closed', stoppedReason: 'Idle', pod: undefined, finishedAt: ago(9)}, bare),
    phase: 'Closed',
    ready: 'Closed',
    conditions: ['Complete', 'Ready'],
  },
  'its pod was deleted and the node does not answer: the next step is told': {
    seen: seenWithPod(works, {pod: going, node: 'Unreachable', turns: [turn('first', running)]}),
    phase: 'Running',
    ready: 'NodeUnreachable',
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
    steps: [],
  },
  'shall be cancelled while the node does not answer: the next step is told': {
    seen: seenWithPod(works, {node: 'Unreachable', turns: [turn('first', running)]}, {desired: 'Cancelled'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
    conditions: ['NodeUnreachable', 'Ready', 'Reconciling'],
  },
  'shall be cancelled while a turn runs': {
    seen: seenWithPod(works, {turns: [turn('first', running)]}, {desired: 'Cancelled'}),
    phase: 'Closing',
    ready: 'Closing',
    steps: ['DeletePod'],
  },
  'cancelled, its pod is gone': {
    seen: seenWithPod(
      {...works, phase: 'Closing'},
      {pod: gone, turns: [turn('first', running)]},
      {desired: 'Cancelled'},
    ),
    phase: 'Closed',
    ready: 'Cancelled',
    steps: ['EndTurn'],
    status: {stoppedReason: 'Cancelled', finishedAt: ago(0)},
    conditions: ['Complete', 'Ready'],
  },
  'closed and its time is over': {
    seen: seenWithPod({phase: 'Closed', pod: undefined, finishedAt: ago(7 * 86_400), conditions: []}, bare, {
      desired: 'Closed',
    }),
    phase: 'Closed',
    ready: 'Closed',
    steps: ['DeleteSession'],
  },
  'shall be archived': {
    seen: seenWithPod({}, {}, {desired: 'Archived'}),
    phase: 'Archived',
    ready: 'Archived',
    steps: ['DeletePod'],
    status: {stoppedReason: 'Archived'},
  },
  'archived and active again: it sleeps until a turn comes': {
    seen: seenWithPod({phase: 'Archived', pod: undefined}, {pod: {kind: 'None'}}),
    phase: 'Sleeping',
    ready: 'Sleeping',
  },
  'on its way out': {
    seen: seenWithPod(
      {},
      {session: {...session({...READY}), metadata: {...session(READY).metadata, deletionTimestamp: ago(1)}}},
    ),
    phase: 'Idle',
    ready: '',
    steps: [],
  },
};

describe('planSession', () => {
  it.each(Object.entries(CASES))('%s', (_name, expected) => {
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

  it.each(Object.entries(CASES))('twice changes nothing: %s', (_name, {seen: first}) => {
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

  it('hands the next turn over only when the runner is ready, with the pod that may finish it', () => {
    const waiting = seenWithPod({admitted: [entry('first', 1)], lastSequence: 1}, {turns: [turn('first', queued(1))]});
    const plan = planSession(waiting);
    expect(plan.status).toMatchObject({phase: 'Running', activeTurn: entry('first', 1), queued: 0});
    expect(plan.turnWrites).toHaveLength(1);
    expect(plan.turnWrites[0]?.status).toMatchObject({
      phase: 'Running',
      podUID: POD_UID,
      sequence: 1,
      startedAt: ago(0),
    });
    const notYet = planSession({
      ...waiting,
      session: session({...READY, ...unready, admitted: [entry('first', 1)], lastSequence: 1}),
    });
    expect(notYet.status.activeTurn).toBeUndefined();
    expect(notYet.turnWrites).toEqual([]);
  });

  it('Z-099 a turn that comes to an idle session runs at once, one that comes to a running one waits', () => {
    const idle = planSession(seenWithPod({}, {turns: [turn('first')]}));
    expect(idle.status).toMatchObject({phase: 'Running', activeTurn: entry('first', 1), lastSequence: 1});
    expect(idle.turnWrites.map((w) => w.status.phase)).toEqual(['Running']);
    const busy = planSession(seenWithPod(works, {turns: [turn('first', running), turn('second')]}));
    expect(busy.status).toMatchObject({activeTurn: entry('first', 1), queued: 1});
    expect(busy.turnWrites.map((w) => [w.turn.metadata.name, w.status.phase])).toEqual([['second', 'Queued']]);
  });

  it('Z-100 an interrupting turn names the running one, once, and goes to the front', () => {
    const turns = [turn('first', running), turn('second', queued(2)), turn('now', undefined, {delivery: 'Interrupt'})];
    const status = {...works, admitted: [entry('first', 1), entry('second', 2)], lastSequence: 2};
    const plan = planSession(seenWithPod(status, {turns}));
    expect(plan.turnWrites.map((w) => w.status.interrupts)).toEqual([{turnUID: 'uid-first'}]);
    const after = {...status, admitted: [...status.admitted, entry('now', 3)], lastSequence: 3};
    const over = [
      turn('first', {...running, phase: 'Interrupted'}),
      turn('second', queued(2)),
      turn('now', queued(3), {delivery: 'Interrupt'}),
    ];
    expect(planSession(seenWithPod(after, {turns: over})).status.activeTurn).toEqual(entry('now', 3));
  });

  it('a turn whose pod is gone ends as unknown and is never handed over again', () => {
    const plan = planSession(seenWithPod(works, {pod: gone, turns: [turn('first', running)]}));
    const end = plan.steps.flatMap((s) => (s.do === 'EndTurn' ? [s.end] : []));
    expect(end).toMatchObject([{phase: 'Failed', code: 'outcome_unknown'}]);
    // Also when the list in the status was lost: Running once is enough.
    const orphan = planSession(seenWithPod({}, {turns: [turn('first', {...running, podUID: 'an earlier pod'})]}));
    expect(orphan.steps).toMatchObject([{do: 'EndTurn', end: {code: 'outcome_unknown'}}]);
    expect(orphan.status.activeTurn).toBeUndefined();
  });

  it('a turn that was chosen but not handed over goes back into the queue when the pod is gone', () => {
    const plan = planSession(seenWithPod(works, {pod: gone, turns: [turn('first', queued(1))]}));
    expect(plan.steps).toEqual([]);
    expect(plan.status).toMatchObject({activeTurn: undefined, admitted: [entry('first', 1)], queued: 1});
  });

  it.each([
    ['Withdraw', undefined, /came too late.*Next: set spec\.stop to Interrupt/],
    ['Interrupt', 'the agent works on it; stop: Withdraw came too late', /^the agent works on it$/],
  ] as const)('a running turn with stop: %s says how it stands, in one write', (stop, before, told) => {
    const edited = turn(
      'first',
      {
        ...running,
        conditions: [
          {type: 'Ready', status: 'False', reason: 'Running', message: before ?? '', lastTransitionTime: ago(9)},
        ],
      },
      {stop},
    );
    const first = {...edited, metadata: {...edited.metadata, generation: 2}};
    const [write, ...more] = planSession(seenWithPod(works, {turns: [first]})).turnWrites;
    expect(more).toEqual([]);
    expect(write?.status).toMatchObject({phase: 'Running', observedGeneration: 2});
    expect(write?.status.conditions).toMatchObject([
      {type: 'Ready', status: 'False', reason: 'Running', message: expect.stringMatching(told)},
      {type: 'Reconciling', status: 'True'},
    ]);
    const again = {...first, status: write?.status ?? running};
    expect(planSession(seenWithPod(works, {turns: [again]})).turnWrites).toEqual([]);
  });

  it('a deleted running turn leaves the session free', () => {
    const plan = planSession(seenWithPod(works, {turns: []}));
    expect(plan.status).toMatchObject({phase: 'Idle', activeTurn: undefined, admitted: undefined});
  });

  it('a failed session keeps what was queued and refuses what comes later', () => {
    const status: SessionStatus = {
      phase: 'Failed',
      pod: undefined,
      admitted: [entry('first', 1)],
      lastSequence: 1,
      finishedAt: ago(1),
    };
    const plan = planSession(
      seenWithPod(status, {pod: {kind: 'None'}, turns: [turn('first', queued(1)), turn('late')]}),
    );
    expect(plan.status.admitted).toEqual([entry('first', 1)]);
    expect(plan.steps).toMatchObject([
      {do: 'EndTurn', turn: {metadata: {name: 'late'}}, end: {phase: 'Cancelled', code: 'session_closed'}},
    ]);
  });

  it('a queued turn says that its session failed, in one write, and no more when the session goes on', () => {
    const told = report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'});
    const status = {...unready, ...told, admitted: [entry('first', 1)], lastSequence: 1};
    const [write, ...more] = planSession(seenWithPod(status, {turns: [turn('first', queued(1))]})).turnWrites;
    expect(more).toEqual([]);
    expect(write?.status.phase).toBe('Queued');
    expect(write?.status.conditions).toMatchObject([
      {type: 'Ready', status: 'False', reason: 'SessionFailed'},
      {type: 'Stalled', status: 'True', message: expect.stringMatching(/Next: mend that, then raise spec\.restart/)},
    ]);
    const held = turn('first', write?.status);
    const failed: SessionStatus = {...status, phase: 'Failed', pod: undefined, finishedAt: ago(1)};
    const none = {pod: {kind: 'None'} as const, turns: [held]};
    expect(planSession(seenWithPod(failed, none)).turnWrites).toEqual([]);
    const [cleared] = planSession(seenWithPod(failed, none, {restart: 1})).turnWrites;
    expect(cleared?.status.conditions).toMatchObject([
      {type: 'Ready', reason: 'Queued'},
      {type: 'Reconciling', reason: 'Queued'},
    ]);
  });

  it('the prompt of a session whose first start fails waits for restart', () => {
    const status: SessionStatus = {
      phase: 'Failed',
      pod: undefined,
      initialTurn: {name: 'first', uid: 'uid-first'},
      finishedAt: ago(1),
    };
    const plan = planSession(seenWithPod(status, {pod: {kind: 'None'}, turns: [turn('first')]}, {prompt: 'h'}));
    expect(plan.steps).toEqual([]);
    expect(plan.status.admitted).toEqual([entry('first', 1)]);
  });

  it('turns made with plain kubectl are adopted, those of ours are not', () => {
    const owned = turn('owned', queued(2));
    const plan = planSession(
      seenWithPod(
        {...works, admitted: [entry('first', 1), entry('owned', 2)], lastSequence: 2},
        {
          turns: [
            turn('first', running),
            {
              ...owned,
              metadata: {
                ...owned.metadata,
                ownerReferences: [{apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'one', uid: SESSION_UID}],
              },
            },
          ],
        },
      ),
    );
    expect(plan.adopt.map((t) => t.metadata.name)).toEqual(['first']);
  });

  it('a turn that is refused goes with its Session all the same; one of an earlier Session does not', () => {
    const turns = [turn('late'), turn('old', {sessionUID: 'earlier'}), turn('done', {...running, phase: 'Failed'})];
    const plan = planSession(seenWithPod({phase: 'Failed', finishedAt: ago(1)}, {pod: {kind: 'None'}, turns}));
    expect(plan.steps).toMatchObject([
      {do: 'EndTurn', turn: {metadata: {name: 'late'}}, end: {code: 'session_closed'}},
      {do: 'EndTurn', turn: {metadata: {name: 'old'}}, end: {code: 'session_replaced'}},
    ]);
    expect(plan.adopt.map((t) => t.metadata.name)).toEqual(['late', 'done']);
  });

  it.each([
    ['as an image volume', seedRefused(NO_FOLDER)],
    ['in the image itself', seeding('InitContainer', {terminated: {exitCode: 4}})],
  ])('names the workspace image that has no folder to seed from, and what to do: %s', (_how, seeing) => {
    expect(planSession(seeing).status.conditions?.find((c) => c.type === 'Failed')?.message).toBe(
      `workspace.image of the Agent, registry.example/files@sha256:${'f'.repeat(64)}, has no folder /workspace to seed from: build it with the files in that folder, or take it out of the Agent. Next: mend the cause, then raise spec.restart`,
    );
  });

  it('says in the condition what to do about a failure', () => {
    const told = report('Failed', {reason: 'CommandNotFound', message: 'no /bin/agent'});
    const plan = planSession(seenWithPod({...unready, ...told}));
    expect(plan.status.conditions?.find((c) => c.type === 'Failed')?.message).toBe(
      'no /bin/agent. Next: correct spec.command of the Agent, then raise spec.restart',
    );
  });

  it('conditions keep the time of their last change', () => {
    const lastTransitionTime = ago(500);
    const conditions = [{type: 'Ready', status: 'True' as const, reason: 'Running', message: 'x', lastTransitionTime}];
    const plan = planSession(seenWithPod({conditions}));
    expect(plan.status.conditions).toMatchObject([{type: 'Ready', reason: 'Idle', lastTransitionTime}]);
    expect(NOW.getTime()).toBeGreaterThan(Date.parse(lastTransitionTime));
  });
});
