import {defineConditions} from '../conditions.ts';

/** What a Session may say of itself: condition types, and each reason with what to do next. New ones are added here. */
export const sessionConditions = defineConditions({
  types: {
    Ready: {
      polarity: 'normal',
      means:
        'The session is as desired: it runs, waits or sleeps, or has ended as asked, by spec.desired or by idle.closeAfter of its Agent.',
    },
    Complete: {polarity: 'normal', means: 'The session ended as asked.'},
    Failed: {polarity: 'abnormal', means: 'The session cannot go on; spec.restart leads out.'},
    Reconciling: {polarity: 'abnormal', means: 'The controller is bringing it to what is desired.'},
    Stalled: {polarity: 'abnormal', means: 'Nothing goes on until somebody changes something.'},
    NodeUnreachable: {
      polarity: 'abnormal',
      means: 'The node of the pod does not answer; the turn may still be running there.',
    },
    NetworkNotIsolated: {
      polarity: 'abnormal',
      means: 'The network policy did not take hold; the agent is not started.',
    },
    ImagePullWaiting: {polarity: 'abnormal', means: 'An image is still being pulled.'},
    RunnerRestarting: {polarity: 'abnormal', means: 'The runner of the pod is being started again.'},
    AgentUnresponsive: {polarity: 'abnormal', means: 'The process beside the agent does not answer.'},
    ToolsNotConnected: {polarity: 'abnormal', means: 'The agent did not ask for the tools of the platform.'},
    VolumeNotWritable: {polarity: 'abnormal', means: 'The agent cannot write its workspace or home folder.'},
    SeedIncomplete: {
      polarity: 'abnormal',
      means: 'Seeding began and did not end; the workspace is not seeded again.',
    },
    AddressMoved: {
      polarity: 'abnormal',
      means: 'The gateway or the relay has another address than the pod was told.',
    },
    TurnOverdue: {
      polarity: 'abnormal',
      means: 'The running turn is over limits.turn by 5 minutes, and its end did not come.',
    },
    ArchiveUnavailable: {
      polarity: 'abnormal',
      means: 'The archive takes nothing: transcript and ends of turns wait for it.',
    },
    ConversationRebuilt: {
      polarity: 'abnormal',
      means: 'The agent lost its conversation; it was rebuilt from the archive.',
    },
  },
  reasons: {
    Pending: {means: 'The session waits to be started.', event: 'none'},
    AgentNotFound: {
      means: 'No Agent of that name exists: create it, or delete the Session and create it again with another agent.',
      event: 'Warning',
    },
    AgentNotPublished: {means: 'The Agent has no published revision: read its conditions.', event: 'Warning'},
    ModelNotAllowed: {
      means: 'The Agent does not allow that model: choose one that the message lists.',
      event: 'Warning',
    },
    Starting: {means: 'The pod is being started.', event: 'none'},
    PodCreated: {means: 'A pod was made for this attempt.', event: 'Normal'},
    Idle: {means: 'The agent waits for input.', event: 'none'},
    Running: {means: 'A turn runs.', event: 'none'},
    NeedsInput: {means: 'The agent waits for an answer: see its Questions.', event: 'Normal'},
    Sleeping: {means: 'No pod; workspace and conversation are kept; a turn wakes it.', event: 'Normal'},
    Closing: {means: 'The session is ending.', event: 'none'},
    Closed: {means: 'The session ended.', event: 'Normal'},
    Cancelled: {means: 'The session was cancelled.', event: 'Normal'},
    ClosedForGood: {
      means:
        'The session has ended, and spec.desired asks for something else: nothing brings it back. Start another one.',
      event: 'Warning',
    },
    Archived: {means: 'The session is put away; desired: Active brings it back.', event: 'Normal'},
    StartFailed: {
      means: 'The agent did not start within limits.start; the message says what happened.',
      event: 'Warning',
    },
    CommandNotFound: {
      means: 'The command does not exist in the image or cannot be executed: correct spec.command of the Agent.',
      event: 'Warning',
    },
    AgentNotAcp: {
      means: 'The agent did not speak ACP on its standard output: check command and args.',
      event: 'Warning',
    },
    InitializeTimeout: {
      means: 'The agent did not answer initialize within the limit: check command, or raise limits.start.',
      event: 'Warning',
    },
    AuthenticationRequired: {means: 'The agent wants a login: set harness.authMethod or its key.', event: 'Warning'},
    AgentExited: {means: 'The agent process ended; the message gives code and last output.', event: 'Warning'},
    AgentKilled: {means: 'The agent process was ended by a signal.', event: 'Warning'},
    OutOfMemory: {
      means: 'The agent ran out of memory: raise resources.limits.memory of the Agent.',
      event: 'Warning',
    },
    ImagePull: {means: 'An image cannot be pulled; the message gives the cause.', event: 'Warning'},
    ImagePullWaiting: {
      means: 'An image has been pulling for 20 s or more; another pull may be before it.',
      event: 'Warning',
    },
    PodRejected: {means: 'The API server refuses the pod; the message gives the cause.', event: 'Warning'},
    Unschedulable: {means: 'No node can take the pod; the message gives the cause.', event: 'Warning'},
    QuotaExceeded: {means: 'A ResourceQuota is used up: raise it or end other sessions.', event: 'Warning'},
    NameTaken: {
      means:
        'An object of somebody else has the name of one that the session needs: the message names it; delete it, nothing else is to be done.',
      event: 'Warning',
    },
    SecretNotFound: {means: 'A Secret or ConfigMap that the pod mounts is missing: create it.', event: 'Warning'},
    OriginMismatch: {
      means: 'The origin in the Secret of model.key is not the origin of model.baseUrl: correct one of them.',
      event: 'Warning',
    },
    PodMutated: {means: 'Something changed the pod that was asked for; it was deleted.', event: 'Warning'},
    PodForeign: {
      means: 'A pod that the platform did not make had the name of ours or the Session as its owner; it was deleted.',
      event: 'Warning',
    },
    PodLost: {
      means: 'The pod went away without being asked to; a new attempt follows, unless the session closes.',
      event: 'Warning',
    },
    Evicted: {means: 'The node evicted the pod.', event: 'Warning'},
    NodeLost: {means: 'The node of the pod is gone.', event: 'Warning'},
    ServiceAccountReplaced: {
      means:
        'The ServiceAccount of the Agent was deleted and made again, or is being deleted: the tokens of its pods are void.',
      event: 'Warning',
    },
    NodeUnreachable: {
      means: 'The node does not answer; the turn stays as it is until the node is back or the pod is gone.',
      event: 'Warning',
    },
    WorkspaceLost: {
      means: 'The volume is gone; it is never replaced silently. Raise spec.restart to go on with an empty one.',
      event: 'Warning',
    },
    NetworkNotIsolated: {
      means: 'A port that no policy allows could be reached: is a NetworkPolicy plugin running?',
      event: 'Warning',
    },
    RunnerRestarting: {means: 'The runner ended and is being started again in place.', event: 'Warning'},
    AgentUnresponsive: {means: 'No sign of life for 15 s; the agent is being ended.', event: 'Warning'},
    ToolsNotConnected: {
      means: 'The agent did not list the tools within 10 s, over HTTP or stdio; it goes on without them.',
      event: 'Warning',
    },
    VolumeNotWritable: {
      means: 'The volume ignores fsGroup or is read-only: use another storage class.',
      event: 'Warning',
    },
    SeedIncomplete: {
      means: 'The volume holds content but no seed marker: delete the volume claim to seed anew.',
      event: 'Warning',
    },
    ConversationRebuilt: {
      means: 'The agent could not resume; it was told the end of the transcript.',
      event: 'Warning',
    },
    AddressMoved: {
      means:
        'The Service of the gateway or of the relay was made anew: as soon as no turn runs the pod goes. If one does not end, give the Service its address from before (spec.clusterIP), which the message names; spec.restart loses what the turn did.',
      event: 'Warning',
    },
    TurnOverdue: {
      means:
        'The running turn is over limits.turn and its end did not come: its runner is frozen, does not reach the gateway, or waits for the archive. The message says where to look, and the command that ends it.',
      event: 'Warning',
    },
    ArchiveUnavailable: {
      means:
        'The archive does not answer or is full, so ends of turns wait: look at its pod, it goes on by itself once the archive takes them.',
      event: 'Warning',
    },
    RuntimeSwitched: {
      means: 'Image volumes are missing here; the runtime is copied by an init container.',
      event: 'Warning',
    },
  },
});
