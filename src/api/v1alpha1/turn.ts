import {z} from 'zod';
import {defineConditions} from '../conditions.ts';
import {defineResource} from '../resource.ts';
import {exactlyOne, immutable, terminalPhases, writeOnceOr} from '../rules.ts';
import * as s from '../schema.ts';

/** Phases that never change again. */
export const TURN_TERMINAL = ['Completed', 'Failed', 'Interrupted', 'Cancelled'] as const;

/** Who wrote a turn. */
export const Author = z.object({
  kind: z.enum(['Human', 'Agent', 'Trigger', 'System']).describe('Human is never a service account.'),
  name: s.text(253, 'User name, or name of the Session or Trigger.'),
  session: s.text(253, 'Session that the author acted from.').optional(),
  channel: s.text(64, 'How it came in: kubectl, api, mcp.').optional(),
});
export type Author = z.infer<typeof Author>;

/** Turn: one input and its outcome. The queue of a Session is the set of its Turns. */
export const Turn = defineResource({
  kind: 'Turn',
  plural: 'turns',
  singular: 'turn',
  shortNames: ['cturn'],
  maxName: 63,
  description: 'A Turn is one input to a Session and its outcome; the queue of a Session is the set of its Turns.',
  spec: s.k8s(
    z.object({
      session: s.objectName('Session that the input is for.'),
      input: s
        .list(
          s.k8s(
            z.object({
              text: s.text(16384, 'Part of the prompt.').optional(),
              from: z
                .object({
                  configMap: s.objectName('Immutable ConfigMap of this namespace.', 253),
                  sha256: s.ofForm(
                    s.text(64, 'Digest of the value of its key `text`.'),
                    /^[a-f0-9]{64}$/,
                    'must be a SHA-256 digest: 64 hex digits in lower case',
                  ),
                })
                .describe('Larger part of the prompt, up to 1 MiB.')
                .optional(),
            }),
            {'x-kubernetes-validations': [exactlyOne('text', 'from')]},
          ),
          64,
          'The prompt, in parts; frozen once the turn is no longer queued.',
        )
        .min(1),
      goal: s.text(2048, 'Goal for this turn, in place of that of the Session.').optional(),
      author: Author.describe('Who wrote it; stamped by the platform.').optional(),
      delivery: z
        .enum(['Queue', 'Interrupt'])
        .default('Queue')
        .describe('Queue waits for the running turn; Interrupt ends it first.'),
      promotedAt: s.time('Put before the other queued turns; the newest first.').optional(),
      stop: z
        .enum(['Interrupt', 'Withdraw'])
        .describe(
          'Withdraw takes a queued turn back, and changes nothing of one that runs; Interrupt ends it whether it is queued or running, also after a Withdraw that came too late.',
        )
        .optional(),
    }),
    {
      'x-kubernetes-validations': [
        immutable('session'),
        writeOnceOr('stop', ['Withdraw', 'Interrupt']),
        {
          rule: 'self.input.map(p, has(p.text) ? p.text.size() : 0).sum() <= 65536',
          message: 'all texts together may be at most 65536 characters; put more into a ConfigMap and name it in from',
          fieldPath: '.input',
        },
      ],
    },
  ),
  status: z.object({
    observedGeneration: s.observedGeneration.optional(),
    phase: z
      .enum(['Queued', 'Running', 'Completed', 'Failed', 'Interrupted', 'Cancelled'])
      .describe('Queued, Running, or one of the final phases.')
      .optional(),
    sequence: s.k8s(z.int().min(1).describe('Number at admission, never used again.'), {format: 'int64'}).optional(),
    sessionUID: s.text(64, 'UID of the Session that admitted it.').optional(),
    podUID: s.text(64, 'UID of the pod it was handed to; only that pod may finish it.').optional(),
    stopReason: z
      .enum(['EndTurn', 'MaxTokens', 'MaxRequests', 'Refusal', 'Cancelled'])
      .describe('Why the agent stopped.')
      .optional(),
    response: s.text(8192, 'Last words of the agent; the whole is in the transcript.').optional(),
    error: z
      .object({code: s.text(64, 'Stable code.'), message: s.text(1024, 'What went wrong, and what to do next.')})
      .describe('Why it failed or was cancelled.')
      .optional(),
    usage: z
      .object({
        inputTokens: s.k8s(z.int().min(0).describe('Tokens sent.'), {format: 'int64'}).optional(),
        outputTokens: s.k8s(z.int().min(0).describe('Tokens received.'), {format: 'int64'}).optional(),
        requests: s.integer(0, 2147483647, 'Requests to the model.').optional(),
      })
      .describe('What the turn used, as seen by the model proxy.')
      .optional(),
    admittedAt: s.time('When the Session took it into its queue.').optional(),
    startedAt: s.time('When it was handed to the pod.').optional(),
    finishedAt: s.time('When it ended.').optional(),
    interrupts: z
      .object({turnUID: s.text(64, 'UID of the turn that this one ends.')})
      .describe('Written once, at admission of a turn with delivery Interrupt.')
      .optional(),
    archived: z.boolean().describe('The end of the turn is in the archive.').optional(),
    conditions: s.conditions.optional(),
  }),
  conditions: defineConditions({
    types: {
      Ready: {polarity: 'normal', means: 'The turn has a final phase.'},
      Complete: {polarity: 'normal', means: 'The turn completed.'},
      Failed: {polarity: 'abnormal', means: 'The turn failed, was interrupted or cancelled.'},
      Reconciling: {polarity: 'abnormal', means: 'The turn waits or runs.'},
      Stalled: {polarity: 'abnormal', means: 'The turn waits for something that only a person can provide.'},
    },
    reasons: {
      Queued: {means: 'The turn runs when those before it have ended and its session is ready.', event: 'none'},
      Running: {means: 'The agent works on it.', event: 'none'},
      Completed: {means: 'The agent finished.', event: 'none'},
      Failed: {means: 'The turn failed; status.error says why.', event: 'Warning'},
      Interrupted: {means: 'The turn was stopped while it ran.', event: 'Normal'},
      Cancelled: {means: 'The turn was taken back or refused before it ran; status.error says why.', event: 'Normal'},
      SessionFailed: {
        means:
          'The Session of the turn has failed: mend what its condition Failed says, then raise its spec.restart, and the turn runs.',
        event: 'none',
      },
      SessionNotFound: {means: 'No Session of that name exists yet: create it, or delete the turn.', event: 'Warning'},
    },
  }),
  columns: [
    {name: 'Session', type: 'string', jsonPath: '.spec.session', description: 'Session of the turn.'},
    {name: 'Seq', type: 'integer', jsonPath: '.status.sequence', description: 'Number at admission.'},
    {name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase.'},
    {name: 'Stop', type: 'string', jsonPath: '.status.stopReason', description: 'Why the agent stopped.', priority: 1},
    {name: 'Error', type: 'string', jsonPath: '.status.error.code', description: 'Code of the error.'},
    {name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.'},
  ],
  selectableFields: ['.spec.session', '.status.phase'],
  rootRules: [
    terminalPhases(TURN_TERMINAL),
    {
      rule: "!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'Queued' || self.spec.input == oldSelf.spec.input",
      message: 'input is frozen once the turn is no longer queued; create another turn',
      reason: 'FieldValueForbidden',
      fieldPath: '.spec.input',
    },
  ],
});
