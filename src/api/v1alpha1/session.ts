import {z} from 'zod';
import {defineResource} from '../resource.ts';
import {immutable, terminalPhases} from '../rules.ts';
import * as s from '../schema.ts';
import {sessionConditions} from './session-conditions.ts';

/** The one phase of a Session that never changes again; Failed is left by `restart`, Archived by `desired: Active`. */
export const SESSION_TERMINAL = ['Closed'] as const;

/** Why a session has no pod, or ended. New reasons are added here. */
export const STOPPED_REASONS = [
  'Closed',
  'Cancelled',
  'Archived',
  'Idle',
  'StartFailed',
  'ImagePull',
  'AgentExited',
  'AgentKilled',
  'OutOfMemory',
  'Evicted',
  'NodeLost',
  'PodLost',
  'ServiceAccountReplaced',
  'WorkspaceLost',
  'PodMutated',
  'PolicyDenied',
] as const;

const ref = (what: string) => z.object({name: s.text(253, `Name of ${what}.`), uid: s.text(64, `UID of ${what}.`)});

const int64 = (description: string) => s.k8s(z.int().min(0).describe(description), {format: 'int64'});

/** What the runner reported at its last start; written by the gateway, by a patch that is conditional on the pod. */
const runner = z.object({
  podUID: s.text(64, 'Pod that reported; a report of an earlier pod counts for nothing.'),
  epoch: s.integer(1, 2147483647, 'How often the runner of that pod started.'),
  state: z
    .enum(['Starting', 'Ready', 'Restarting', 'Failed', 'Exited'])
    .describe('Ready: the agent answers. Failed: it cannot be started. Exited: it ended and is not started again.'),
  reason: s.text(64, 'Documented reason of a state that is not Ready.').optional(),
  message: s.text(1024, 'What happened, and what to do next.').optional(),
  agentSessionId: s.text(512, 'The conversation, as the agent names it; used to resume it.').optional(),
  conversation: z
    .enum(['New', 'Resumed', 'Loaded', 'Rebuilt'])
    .describe('How the conversation came to this pod.')
    .optional(),
  agent: z
    .object({
      name: s.text(128, 'Name.').optional(),
      version: s.text(64, 'Version.').optional(),
      protocolVersion: s.integer(0, 65535, 'ACP version.').optional(),
      capabilities: s.list(s.text(64, 'Capability.'), 32, 'What it announced.').optional(),
    })
    .describe('What the agent said of itself.')
    .optional(),
  exit: z
    .object({
      code: s.integer(-1, 255, 'Exit code.').optional(),
      signal: s.text(16, 'Signal that ended it.').optional(),
      outOfMemory: z.boolean().describe('The out-of-memory counter of the container rose at this exit.').optional(),
    })
    .describe('How the agent process ended.')
    .optional(),
  findings: s
    .list(
      z.object({
        type: s.text(64, 'Condition that the controller shall set.'),
        reason: s.text(64, 'Reason.'),
        message: s.text(512, 'What happened, and what to do next.'),
      }),
      8,
      'Conditions that only the runner can see.',
    )
    .optional(),
  reportedAt: s.time('When it was reported.').optional(),
});

/** Session: one run of an agent, with a conversation. */
export const Session = defineResource({
  kind: 'Session',
  plural: 'sessions',
  singular: 'session',
  shortNames: ['csess'],
  description:
    'A Session is one run of an Agent, with a conversation: it works in a pod of its own, sleeps, wakes and remembers.',
  spec: s.k8s(
    z.object({
      agent: s.objectName('Agent that runs.'),
      prompt: s.text(65536, 'First prompt; it is sent once.').optional(),
      title: s.text(256, 'What people read in lists.').optional(),
      goal: s.text(2048, 'What the session is to reach; told to the agent with each prompt.').optional(),
      notes: s.text(8192, 'Notes of people and agents.').optional(),
      owner: s.text(253, 'User who owns it; stamped by the platform.').optional(),
      requester: z
        .object({session: s.objectName('Session that this one belongs to.'), uid: s.text(64, 'Its UID.')})
        .describe(
          'Lineage: the Session that this one belongs to, because it started this one, or because whoever did said so. Never changes.',
        )
        .optional(),
      model: z
        .object({name: s.text(128, 'One of the models that the Agent allows.')})
        .describe('Choice of a model, by name only.')
        .optional(),
      desired: z
        .enum(['Active', 'Sleeping', 'Archived', 'Closed', 'Cancelled'])
        .default('Active')
        .describe(
          'Active: run when there is something to do. Sleeping: no pod while nothing is runnable. Archived: put away, reversible. Closed: end after the running turn. Cancelled: end now.',
        ),
      restart: s.integer(0, 1000000, 'Raise it to start a new attempt, also out of Failed.').default(0),
      ttlAfterFinished: s.duration('How long a closed or failed session is kept.').default('7d'),
      turnHistoryLimit: s
        .integer(1, 100, 'Finished turns that are kept as objects; older ones live in the archive.')
        .default(20),
    }),
    {
      'x-kubernetes-validations': [
        immutable('agent'),
        immutable('prompt'),
        immutable('requester'),
        {
          rule: 'self.restart >= oldSelf.restart',
          message: 'restart can only be raised',
          reason: 'FieldValueInvalid',
          fieldPath: '.restart',
        },
      ],
    },
  ),
  status: z.object({
    observedGeneration: s.observedGeneration.optional(),
    phase: z
      .enum([
        'Pending',
        'Starting',
        'Idle',
        'Running',
        'NeedsInput',
        'Sleeping',
        'Closing',
        'Closed',
        'Archived',
        'Failed',
      ])
      .describe('Summary of where it stands.')
      .optional(),
    revision: s.text(253, 'ControllerRevision of the Agent that the present pod runs.').optional(),
    attempt: s.integer(0, 2147483647, 'Number of the present pod; written before it is made.').optional(),
    restart: s.integer(0, 1000000, 'Value of spec.restart that was acted upon.').optional(),
    pod: ref('the pod').describe('Present pod; kept until it is gone from the API.').optional(),
    volume: ref('the volume claim').describe('Volume of workspace and conversation.').optional(),
    seeded: z.boolean().describe('The workspace was seeded.').optional(),
    initialTurn: ref('the turn').describe('Turn made from spec.prompt, once.').optional(),
    lastSequence: int64('Highest sequence given to a turn.').optional(),
    activeTurn: z
      .object({name: s.text(253, 'Name.'), uid: s.text(64, 'UID.'), sequence: int64('Number at admission.')})
      .describe('The one turn that runs.')
      .optional(),
    admitted: s
      .list(
        z.object({name: s.text(63, 'Name.'), uid: s.text(36, 'UID.'), sequence: int64('Number at admission.')}),
        33,
        'Turns that were given a number and have not ended.',
      )
      .optional(),
    queued: s.integer(0, 1000, 'Turns that wait.').optional(),
    turns: s.integer(0, 2147483647, 'Turns that ended.').optional(),
    questions: s.integer(0, 1000, 'Questions that are open.').optional(),
    runner: runner.describe('What the runner reported.').optional(),
    stoppedReason: z.enum(STOPPED_REASONS).describe('Why it has no pod, or ended.').optional(),
    idleSince: s.time('When it last became idle.').optional(),
    startingSince: s.time('When the present start began.').optional(),
    heldSince: s
      .time(
        'Since when a fault holds the start up that somebody may mend, a missing Secret for one: limits.start runs from there.',
      )
      .optional(),
    finishedAt: s.time('When it was closed or failed.').optional(),
    timeline: s
      .list(
        z.object({
          time: s.time('When.'),
          event: s.text(64, 'What, one word.'),
          actor: s.text(253, 'Who, if declared.').optional(),
          note: s.text(256, 'More.').optional(),
        }),
        20,
        'Latest steps of its life.',
      )
      .optional(),
    conditions: s.conditions.optional(),
  }),
  conditions: sessionConditions,
  columns: [
    {name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where it stands.'},
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether it is as desired; an ended session takes no input, see the phase.',
    },
    {name: 'Agent', type: 'string', jsonPath: '.spec.agent', description: 'Agent that runs.'},
    {name: 'Turns', type: 'integer', jsonPath: '.status.turns', description: 'Turns that ended.'},
    {name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', description: 'Why.'},
    {name: 'Pod', type: 'string', jsonPath: '.status.pod.name', description: 'Present pod.', priority: 1},
    {name: 'Title', type: 'string', jsonPath: '.spec.title', description: 'Title.', priority: 1},
    {name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.'},
    // Last, because its length has no bound and every column after it would move with it.
    {
      name: 'Message',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: 'More.',
      priority: 1,
    },
  ],
  selectableFields: ['.spec.agent', '.spec.desired', '.status.phase'],
  rootRules: [terminalPhases(SESSION_TERMINAL)],
});
