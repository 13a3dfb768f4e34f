import {z} from 'zod';
import {defineResource} from '../resource.ts';
import {exactlyOne} from '../rules.ts';
import * as s from '../schema.ts';
import {agentConditions} from './agent-conditions.ts';

/** Most turns of one Session that may wait. */
export const MAX_QUEUED = 32;

const env = s.k8s(
  z.object({
    name: s.ofForm(
      s.text(128, 'Name of the variable.'),
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'must be the name of a variable: letters, digits and _, with no digit first',
    ),
    value: s.text(4096, 'Plain value; ${CARREL_...} placeholders are filled in when the agent starts.').optional(),
    secret: z
      .object({
        name: s.objectName('Secret of this namespace.', 253),
        key: s.text(253, 'Key in the Secret.'),
      })
      .describe('Value from a Secret: it reaches the agent process, and so the model-driven code.')
      .optional(),
  }),
  {
    'x-kubernetes-validations': [
      exactlyOne('value', 'secret'),
      {
        rule: "!has(self.secret) || !(self.name in ['NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH'])",
        message: 'NODE_OPTIONS, LD_PRELOAD and LD_LIBRARY_PATH can be set by value only',
        fieldPath: '.name',
      },
      {
        rule: "!self.name.startsWith('CARREL_')",
        message: 'names that begin with CARREL_ belong to the platform; choose another name',
        fieldPath: '.name',
      },
    ],
  },
);

const model = s.k8s(
  z.object({
    name: s.text(128, 'Model that sessions use unless they choose one of allowed.'),
    allowed: s
      .list(s.text(128, 'Name of a model.'), 32, 'Models that a Session may choose by name; name is always allowed.')
      .optional(),
    dialect: z
      .enum(['AnthropicMessages', 'OpenAIChat', 'OpenAIResponses', 'Gemini'])
      .describe('Wire format that the agent speaks to its model.'),
    baseUrl: s.ofForm(
      s.text(
        512,
        'Where the provider answers; https only, an IPv6 address in brackets. The key is sent to this origin and nowhere else.',
      ),
      /^https:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/,
      'must be an https URL of host, port and path only, for example https://api.example.com/v1 (no user, query or fragment)',
    ),
    caBundle: z
      .object({
        configMap: s.objectName('ConfigMap of this namespace.', 253),
        key: s.text(253, 'Key that holds PEM certificates.'),
      })
      .describe('Certificates to trust for baseUrl, beside the well-known ones.')
      .optional(),
    key: z
      .object({
        secret: s.objectName('Secret of this namespace; its key `origin` must equal the origin of baseUrl.', 253),
        key: s.text(253, 'Key in the Secret that holds the provider key.'),
      })
      .describe('The provider key. It is mounted into the runner only; the agent never sees it.')
      .optional(),
    proxy: z
      .enum(['Loopback', 'None'])
      .default('Loopback')
      .describe(
        'Loopback: the agent calls a local URL and the runner puts the key in. None: the agent has no model of ours.',
      ),
  }),
  {description: 'The model that drives the agent.'},
);

const workspace = z.object({
  size: s.quantity('Size of the session volume: workspace and home folder together.').default('1Gi'),
  storageClassName: s
    .objectName('Storage class of the volume; the default class of the cluster if absent.', 253)
    .optional(),
  image: s.imageByDigest('OCI image whose folder /workspace seeds the workspace, once.').optional(),
});

const egressRule = s.k8s(
  z.object({
    host: s
      .ofForm(
        s.text(253, 'Host name, lower case; *.example.com stands for every name below example.com.'),
        /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/,
        'must be a host name in lower case, such as api.example.com, or *.example.com for every name below it; no scheme, port or path. For addresses use cidr',
      )
      .optional(),
    cidr: s.addressRange('The ceiling of the operator (egress.allowPrivate) holds all the same.').optional(),
    ports: s.list(s.integer(1, 65535, 'Port.'), 8, 'Ports that may be reached; 443 if absent.').optional(),
  }),
  {'x-kubernetes-validations': [exactlyOne('host', 'cidr')]},
);

const amounts = (what: string) =>
  z
    .object({cpu: s.quantity(`CPU ${what}.`).optional(), memory: s.quantity(`Memory ${what}.`).optional()})
    .describe(`What is ${what}.`);

/** Agent: what may run. A valid one that is no draft is published as an immutable revision; sessions run a revision. */
export const Agent = defineResource({
  kind: 'Agent',
  plural: 'agents',
  singular: 'agent',
  shortNames: ['cagent'],
  description: 'An Agent says what may run: image, command, model, tool groups, workspace, network and limits.',
  spec: s.k8s(
    z.object({
      draft: z
        .boolean()
        .describe('While true nothing is published; the last good revision goes on serving.')
        .optional(),
      description: s.text(1024, 'What this agent is for, for people and for agents that choose one.').optional(),
      image: s.imageByDigest('Image of the agent; it needs nothing of ours.'),
      imagePullSecrets: s
        .list(s.objectName('Secret of this namespace.', 253), 4, 'Secrets for pulling the images of the pod.')
        .optional(),
      command: s
        .list(
          s.text(4096, 'Word of the command.').min(1),
          32,
          'Program and leading arguments; started directly, without a shell.',
        )
        .min(1),
      args: s.list(s.text(4096, 'Argument.'), 64, 'Arguments after command.').optional(),
      env: s.list(env, 64, 'Environment of the agent process.').optional(),
      files: s
        .list(
          s.k8s(
            z.object({
              path: s.ofForm(
                s.text(256, 'Path below the home folder of the agent.'),
                /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/,
                'must be a path below the home folder: names of letters, digits, ., _ and -, with / between them and not first',
              ),
              content: s.text(16384, 'Content; ${CARREL_...} placeholders are filled in when the agent starts.'),
            }),
            {
              'x-kubernetes-validations': [
                {
                  rule: "!self.path.matches('(^|/)[.][.]?(/|$)')",
                  message: 'path must stay below the home folder: no part of it may be . or ..',
                  fieldPath: '.path',
                },
              ],
            },
          ),
          16,
          'Files that are written into the home folder before each start of the agent.',
        )
        .optional(),
      harness: z
        .object({
          authMethod: s.text(64, 'ACP authentication method to call before a session is made.').optional(),
          mode: s.text(64, 'ACP session mode to set after a session is made.').optional(),
          noReload: z
            .boolean()
            .describe('The agent cannot load or resume a conversation; it is rebuilt from the archive.')
            .default(false),
          assumeMcpHttp: z
            .boolean()
            .describe('The agent takes MCP over HTTP although it does not announce it.')
            .default(false),
        })
        .describe('How this agent differs from what its ACP announcement says.')
        .default({noReload: false, assumeMcpHttp: false}),
      instructions: s.text(8192, 'Put before the first prompt of every session.').optional(),
      model: model.optional(),
      groups: s
        .list(
          s.ofForm(
            s.text(32, 'Name of a tool group.'),
            /^[a-z][a-z_]*$/,
            'must be the name of a tool group: lower-case letters and _, for example self_session',
          ),
          16,
          'Tool groups of the sessions; an empty list means none.',
        )
        .default(['self_session', 'ask']),
      workspace: workspace.describe('The volume of each session.').default({size: '1Gi'}),
      resources: z
        .object({requests: amounts('asked for').optional(), limits: amounts('allowed at most').optional()})
        .describe('Resources of the agent container.')
        .default({requests: {cpu: '50m', memory: '128Mi'}, limits: {memory: '1Gi'}}),
      runtimeClassName: s.objectName('RuntimeClass of the session pods.', 253).optional(),
      network: z
        .object({
          egress: s.list(egressRule, 32, 'What the agent may reach, through the egress relay only.').default([]),
        })
        .describe('Network of the session pods: closed but for the gateway and the egress relay.')
        .default({egress: []}),
      limits: z
        .object({
          start: s.duration('From images present to an agent that answers.').default('60s'),
          turn: s.duration('Longest turn; then it is interrupted.').default('1h'),
          queued: s.integer(1, MAX_QUEUED, 'Turns of one Session that may wait.').default(MAX_QUEUED),
        })
        .describe('Limits of each session.')
        .default({start: '60s', turn: '1h', queued: MAX_QUEUED}),
      idle: z
        .object({
          sleepAfter: s.duration('Idle this long, a session sleeps: its pod goes, its volume stays.').default('10m'),
          closeAfter: s.duration('Idle or asleep this long, a session is closed.').optional(),
        })
        .describe('What happens to sessions that wait for input.')
        .default({sleepAfter: '10m'}),
    }),
    {
      'x-kubernetes-validations': [
        {
          rule: '!has(self.model) || !has(self.model.key) || !has(self.env) || !self.env.exists(e, has(e.secret) && e.secret.name == self.model.key.secret)',
          message:
            'env must not name the Secret of model.key: the agent would see the provider key; keep other values in a Secret of their own',
          reason: 'FieldValueForbidden',
          fieldPath: '.env',
        },
        {
          rule: '!has(self.files) || self.files.map(f, f.content.size()).sum() <= 65536',
          message: 'all files together may hold at most 65536 characters; put larger ones into the workspace image',
          fieldPath: '.files',
        },
      ],
    },
  ),
  status: z.object({
    observedGeneration: s.observedGeneration.optional(),
    publishedRevision: s.text(253, 'ControllerRevision that new pods run.').optional(),
    publishedGeneration: s
      .k8s(z.int().min(0).describe('Generation of the spec that is published.'), {format: 'int64'})
      .optional(),
    conditions: s.conditions.optional(),
  }),
  conditions: agentConditions,
  columns: [
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether it can be run.',
    },
    {name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', description: 'Why.'},
    {name: 'Model', type: 'string', jsonPath: '.spec.model.name', description: 'Model of its sessions.'},
    {
      name: 'Revision',
      type: 'string',
      jsonPath: '.status.publishedRevision',
      description: 'What new pods run.',
      priority: 1,
    },
    {name: 'Image', type: 'string', jsonPath: '.spec.image', description: 'Image by digest.', priority: 1},
    {name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age.'},
  ],
  selectableFields: [],
  rootRules: [],
});
