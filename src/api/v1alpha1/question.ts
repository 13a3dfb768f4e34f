import {z} from 'zod';
import {defineConditions} from '../conditions.ts';
import {defineResource} from '../resource.ts';
import {changesWith, exactlyOne, immutable, terminalPhases, writeOnceUnless} from '../rules.ts';
import * as s from '../schema.ts';

/** Phases that never change again. */
export const QUESTION_TERMINAL = ['Answered', 'Expired', 'Withdrawn'] as const;

/** Condition of an open Question whose answer does not fit; while it is True, the answer may be corrected. */
export const ANSWER_INVALID = 'AnswerInvalid';

/** What stands for the answer in the command that answers an Ask. */
export const ANSWER_PLACEHOLDER = '<your answer>';

const correctable = [
  'has(oldSelf.status)',
  'has(oldSelf.status.phase)',
  "oldSelf.status.phase == 'Open'",
  'has(oldSelf.status.conditions)',
  `oldSelf.status.conditions.exists(c, c.type == '${ANSWER_INVALID}' && c.status == 'True')`,
].join(' && ');

/** Question: something an agent waits for. Plain kubectl answers it by setting `spec.answer`. */
export const Question = defineResource({
  kind: 'Question',
  plural: 'questions',
  singular: 'question',
  shortNames: ['cq'],
  maxName: 63,
  description: 'A Question is something an agent waits for; answer it by setting spec.answer.',
  spec: s.k8s(
    z.object({
      session: s.objectName('Session that asks.'),
      turn: s.objectName('Turn in which it was asked.', 253),
      kind: z
        .enum(['Ask', 'Permission', 'Elicitation'])
        .describe('Ask: a question of the agent. Permission: leave to use a tool. Elicitation: a form.'),
      requestId: s.text(128, 'Name of the request in the pod; the runner delivers the answer to it.').optional(),
      text: s.text(8192, 'The question, as the agent put it.'),
      options: s
        .list(
          z.object({
            id: s.text(128, 'What answer.option names.'),
            label: s.text(512, 'What a person reads.'),
            kind: s.text(64, 'For permissions: allow_once, allow_always, reject_once, reject_always.').optional(),
          }),
          32,
          'Choices; empty for a free answer.',
        )
        .optional(),
      schema: s.text(16384, 'JSON Schema of a form, as text.').optional(),
      to: z.enum(['Owner', 'Human']).default('Owner').describe('Who may answer.'),
      expiresAt: s.time('Until when it waits; then the refusing option is chosen, never an approval.').optional(),
      answer: s
        .k8s(
          z.object({
            option: s.text(128, 'Id of one of options.').optional(),
            text: s.text(16384, 'Free answer.').optional(),
            content: s.text(16384, 'JSON that fits schema, as text.').optional(),
          }),
          {
            'x-kubernetes-validations': [
              exactlyOne('option', 'text', 'content'),
              {
                rule: `!has(self.text) || (self.text.trim() != '' && self.text != '${ANSWER_PLACEHOLDER}')`,
                message: 'text is the answer in words: neither empty nor the placeholder of the command',
                fieldPath: '.text',
              },
              {
                rule: "!has(self.content) || self.content.trim() != ''",
                message: 'content is JSON as text: it is not empty',
                fieldPath: '.content',
              },
            ],
          },
        )
        .describe(
          'Set once, by a person, while the question is open; replaced while the condition AnswerInvalid is there.',
        )
        .optional(),
      answeredBy: s
        .text(253, 'Who answered; stamped by the platform, and absent where Kubernetes has no policies that stamp.')
        .optional(),
    }),
    {
      'x-kubernetes-validations': [
        immutable('session'),
        immutable('turn'),
        immutable('kind'),
        immutable('text'),
        immutable('options'),
        immutable('schema'),
        immutable('requestId'),
        immutable('expiresAt'),
        // Else who may not answer would change that and answer in one go.
        immutable('to'),
        changesWith('answeredBy', 'answer'),
        {
          rule: '!has(self.answer) || !has(self.answer.option) || (has(self.options) && self.options.exists(o, o.id == self.answer.option))',
          message: 'option must be the id of one of spec.options',
          fieldPath: '.answer.option',
        },
        {
          rule: "self.kind != 'Permission' || !has(self.answer) || has(self.answer.option)",
          message:
            'a Permission is answered by option, the id of one of spec.options; any other answer would be taken as a refusal',
          fieldPath: '.answer',
        },
        {
          rule: "self.kind != 'Elicitation' || !has(self.answer) || (has(self.answer.content) && self.answer.content.startsWith('{') && self.answer.content.endsWith('}'))",
          message:
            'an Elicitation is answered by content, a JSON object as text that fits spec.schema; any other answer would be taken as a refusal',
          fieldPath: '.answer',
        },
      ],
    },
  ),
  status: z.object({
    observedGeneration: s.observedGeneration.optional(),
    phase: z
      .enum(['Open', 'Answered', 'Expired', 'Withdrawn'])
      .describe('Open, or one of the final phases.')
      .optional(),
    deliveredAt: s.time('When the runner took the answer.').optional(),
    conditions: s.conditions.optional(),
  }),
  conditions: defineConditions({
    types: {
      Ready: {polarity: 'normal', means: 'The question has a final phase.'},
      Reconciling: {
        polarity: 'abnormal',
        means: 'The question waits for an answer, or its answer for its way to the agent.',
      },
      AnswerInvalid: {polarity: 'abnormal', means: 'The answer does not fit the form; the question is still open.'},
    },
    reasons: {
      Open: {means: 'Somebody has to answer; the message holds the kubectl command.', event: 'Normal'},
      AnswerInvalid: {
        means:
          'The answer does not fit spec.schema, and the agent was told nothing: the message names each field that is wrong. Set spec.answer again.',
        event: 'Warning',
      },
      Answered: {means: 'It was answered.', event: 'Normal'},
      Expired: {means: 'Nobody answered in time; the refusing option was chosen.', event: 'Warning'},
      NameTaken: {
        means:
          'It was answered late, and an object of somebody else has the name of the Turn that brings the answer: delete it.',
        event: 'Warning',
      },
      Withdrawn: {means: 'The agent no longer waits for it.', event: 'none'},
    },
  }),
  columns: [
    {name: 'Session', type: 'string', jsonPath: '.spec.session', description: 'Session that asks.'},
    {name: 'Turn', type: 'string', jsonPath: '.spec.turn', description: 'Turn in which it was asked.'},
    {name: 'Kind', type: 'string', jsonPath: '.spec.kind', description: 'Kind of question.'},
    {name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase.'},
    {name: 'By', type: 'string', jsonPath: '.spec.answeredBy', description: 'Who answered.'},
    {name: 'Expires', type: 'string', jsonPath: '.spec.expiresAt', description: 'Until when it waits.', priority: 1},
    {name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.'},
    // Last, because its length has no bound.
    {
      name: 'Question',
      type: 'string',
      jsonPath: '.spec.text',
      description: 'The question; kubectl shows its first line.',
    },
  ],
  selectableFields: ['.spec.session', '.status.phase'],
  rootRules: [
    terminalPhases(QUESTION_TERMINAL),
    writeOnceUnless('answer', correctable, `the question is open and has the condition ${ANSWER_INVALID}`),
    {
      rule: "!has(self.spec.answer) || has(oldSelf.spec.answer) || !has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'Open'",
      message: 'the question is no longer open',
      reason: 'FieldValueForbidden',
      fieldPath: '.spec.answer',
    },
  ],
});
