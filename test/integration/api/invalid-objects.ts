import type {Json} from '../../../src/api/json.ts';
import {IMAGE, type KindName} from './examples.ts';
import {INVALID_FORMS} from './invalid-forms.ts';

/** An object that must be refused at create, and what kubectl says then. */
export interface InvalidObject {
  readonly kind: KindName;
  readonly state: string;
  readonly spec?: Json;
  readonly name?: string;
  readonly says: string;
}

const KEY = {secret: 'provider', key: 'token'};
const MODEL = {name: 'm', dialect: 'OpenAIChat', baseUrl: 'https://models.example/v1'};
const LONG = 'x'.repeat(16_384);

export const INVALID_OBJECTS: readonly InvalidObject[] = [
  ...INVALID_FORMS,
  {
    kind: 'Agent',
    state: 'a name of 49 characters',
    name: 'a'.repeat(49),
    says: 'The Agent "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is invalid: \n* metadata.name: Too long: may not be more than 48 bytes\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Agent',
    state: 'a name with a dot',
    name: 'a.b',
    says: 'The Agent "a.b" is invalid: metadata.name: Invalid value: "a.b": metadata.name in body should match \'^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\'',
  },
  {
    kind: 'Agent',
    state: 'an image by tag',
    spec: {image: 'nginx:1.27'},
    says: 'The Agent "x" is invalid: spec.image: Invalid value: "nginx:1.27": must be pinned by digest: name@sha256:<64 hex digits>. Get it with `crane digest <image>`, or from a pod that runs the image: `kubectl get pod <pod> -o jsonpath={..imageID}`',
  },
  {
    kind: 'Agent',
    state: 'no image',
    spec: {image: undefined},
    says: 'The Agent "x" is invalid: \n* spec.image: Required value\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Agent',
    state: 'an empty command',
    spec: {command: []},
    says: 'The Agent "x" is invalid: spec.command: Invalid value: 0: spec.command in body should have at least 1 items',
  },
  {
    kind: 'Agent',
    state: 'a field that does not exist',
    spec: {imagePullPolicy: 'Always'},
    says: 'Error from server (BadRequest): error when creating "STDIN": Agent in version "v1alpha1" cannot be handled as a Agent: strict decoding error: unknown field "spec.imagePullPolicy"',
  },
  {
    kind: 'Agent',
    state: 'a variable with value and secret',
    spec: {env: [{name: 'A', value: '1', secret: {name: 's', key: 'k'}}]},
    says: 'The Agent "x" is invalid: spec.env[0]: Invalid value: exactly one of value, secret must be set',
  },
  {
    kind: 'Agent',
    state: 'a loader variable from a Secret',
    spec: {env: [{name: 'LD_PRELOAD', secret: {name: 's', key: 'k'}}]},
    says: 'The Agent "x" is invalid: spec.env[0].name: Invalid value: NODE_OPTIONS, LD_PRELOAD and LD_LIBRARY_PATH can be set by value only',
  },
  {
    kind: 'Agent',
    state: 'a variable of the platform',
    spec: {env: [{name: 'CARREL_X', value: '1'}]},
    says: 'The Agent "x" is invalid: spec.env[0].name: Invalid value: names that begin with CARREL_ belong to the platform; choose another name',
  },
  {
    kind: 'Agent',
    state: 'the provider key in the environment',
    spec: {model: {...MODEL, key: KEY}, env: [{name: 'K', secret: {name: 'provider', key: 'token'}}]},
    says: 'The Agent "x" is invalid: spec.env: Forbidden: env must not name the Secret of model.key: the agent would see the provider key; keep other values in a Secret of their own',
  },
  {
    kind: 'Agent',
    state: 'a model with an unknown dialect',
    spec: {model: {...MODEL, dialect: 'Telnet'}},
    says: 'The Agent "x" is invalid: \n* spec.model.dialect: Unsupported value: "Telnet": supported values: "AnthropicMessages", "OpenAIChat", "OpenAIResponses", "Gemini"\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Agent',
    state: 'files that are too large together',
    spec: {files: [1, 2, 3, 4, 5].map((n) => ({path: `f${n}`, content: LONG}))},
    says: 'The Agent "x" is invalid: spec.files: Invalid value: all files together may hold at most 65536 characters; put larger ones into the workspace image',
  },
  {
    kind: 'Agent',
    state: 'a file outside the home folder',
    spec: {files: [{path: '../x', content: ''}]},
    says: 'The Agent "x" is invalid: spec.files[0].path: Invalid value: path must stay below the home folder: no part of it may be . or ..',
  },
  {
    kind: 'Agent',
    state: 'a host and a range in one egress rule',
    spec: {network: {egress: [{host: 'a.example', cidr: '192.0.2.0/24'}]}},
    says: 'The Agent "x" is invalid: spec.network.egress[0]: Invalid value: exactly one of host, cidr must be set',
  },
  ...['10.0.0.1/8', '999/9', '192.0.2.7', '2001:db8::1/32'].map(
    (cidr): InvalidObject => ({
      kind: 'Agent',
      state: `an egress range that is none: ${cidr}`,
      spec: {network: {egress: [{cidr}]}},
      says: `The Agent "x" is invalid: spec.network.egress[0].cidr: Invalid value: "${cidr}": must be an address range: address/prefix with no bits set beyond the prefix, for example 10.2.0.0/16 or 2001:db8::/32. For one address write /32, or /128 for IPv6`,
    }),
  ),
  {
    kind: 'Agent',
    state: 'a port that does not exist',
    spec: {network: {egress: [{host: 'a.example', ports: [70000]}]}},
    says: 'The Agent "x" is invalid: spec.network.egress[0].ports[0]: Invalid value: 70000: spec.network.egress[0].ports[0] in body should be less than or equal to 65535',
  },
  {
    kind: 'Agent',
    state: 'a workspace image by tag',
    spec: {workspace: {image: 'busybox'}},
    says: 'The Agent "x" is invalid: spec.workspace.image: Invalid value: "busybox": must be pinned by digest: name@sha256:<64 hex digits>. Get it with `crane digest <image>`, or from a pod that runs the image: `kubectl get pod <pod> -o jsonpath={..imageID}`',
  },
  {
    kind: 'Session',
    state: 'no agent',
    spec: {agent: undefined},
    says: 'The Session "x" is invalid: \n* spec.agent: Required value\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Session',
    state: 'a phase nobody can wish for',
    spec: {desired: 'Running'},
    says: 'The Session "x" is invalid: \n* spec.desired: Unsupported value: "Running": supported values: "Active", "Sleeping", "Archived", "Closed", "Cancelled"\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Session',
    state: 'a negative restart',
    spec: {restart: -1},
    says: 'The Session "x" is invalid: spec.restart: Invalid value: -1: spec.restart in body should be greater than or equal to 0',
  },
  {
    kind: 'Session',
    state: 'a title that is too long',
    spec: {title: 'x'.repeat(257)},
    says: 'The Session "x" is invalid: \n* spec.title: Too long: may not be more than 256 bytes\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Turn',
    state: 'a name of 64 characters',
    name: 'a'.repeat(64),
    says: 'The Turn "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is invalid: \n* metadata.name: Too long: may not be more than 63 bytes\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Turn',
    state: 'no input',
    spec: {input: []},
    says: 'The Turn "x" is invalid: spec.input: Invalid value: 0: spec.input in body should have at least 1 items',
  },
  {
    kind: 'Turn',
    state: 'a part with text and from',
    spec: {input: [{text: 'a', from: {configMap: 'c', sha256: 'a'.repeat(64)}}]},
    says: 'The Turn "x" is invalid: spec.input[0]: Invalid value: exactly one of text, from must be set',
  },
  {
    kind: 'Turn',
    state: 'an empty part',
    spec: {input: [{}]},
    says: 'The Turn "x" is invalid: spec.input[0]: Invalid value: exactly one of text, from must be set',
  },
  {
    kind: 'Turn',
    state: 'texts that are too large together',
    spec: {input: [1, 2, 3, 4, 5].map(() => ({text: LONG}))},
    says: 'The Turn "x" is invalid: spec.input: Invalid value: all texts together may be at most 65536 characters; put more into a ConfigMap and name it in from',
  },
  {
    kind: 'Turn',
    state: 'an unknown way to stop',
    spec: {stop: 'Kill'},
    says: 'The Turn "x" is invalid: \n* spec.stop: Unsupported value: "Kill": supported values: "Interrupt", "Withdraw"\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Question',
    state: 'an unknown kind',
    spec: {kind: 'Riddle'},
    says: 'The Question "x" is invalid: \n* spec.kind: Unsupported value: "Riddle": supported values: "Ask", "Permission", "Elicitation"\n* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  },
  {
    kind: 'Question',
    state: 'an answer in two forms',
    spec: {answer: {option: 'a', text: 'A'}},
    says: 'The Question "x" is invalid: spec.answer: Invalid value: exactly one of option, text, content must be set',
  },
  ...['', ' \n', '<your answer>'].map((text) => ({
    kind: 'Question' as const,
    state: `the answer ${JSON.stringify(text)}`,
    spec: {answer: {text}},
    says: 'The Question "x" is invalid: spec.answer.text: Invalid value: text is the answer in words: neither empty nor the placeholder of the command',
  })),
  {
    kind: 'Question',
    state: 'content that is empty',
    spec: {answer: {content: ' '}},
    says: 'The Question "x" is invalid: spec.answer.content: Invalid value: content is JSON as text: it is not empty',
  },
  {
    kind: 'Question',
    state: 'an option that is not there',
    spec: {answer: {option: 'z'}},
    says: 'The Question "x" is invalid: spec.answer.option: Invalid value: option must be the id of one of spec.options',
  },
  {
    kind: 'Question',
    state: 'a permission answered in words',
    spec: {kind: 'Permission', answer: {text: 'yes'}},
    says: 'The Question "x" is invalid: spec.answer: Invalid value: a Permission is answered by option, the id of one of spec.options; any other answer would be taken as a refusal',
  },
  {
    kind: 'Question',
    state: 'a form answered in words',
    spec: {kind: 'Elicitation', answer: {content: 'yes'}},
    says: 'The Question "x" is invalid: spec.answer: Invalid value: an Elicitation is answered by content, a JSON object as text that fits spec.schema; any other answer would be taken as a refusal',
  },
];

/** An Agent with everything in it: what is allowed must pass. */
export const FULL_AGENT: Json = {
  description: 'writes',
  image: IMAGE,
  imagePullSecrets: ['pull'],
  command: ['/bin/agent'],
  args: ['--acp'],
  env: [
    {name: 'A', value: '1'},
    {name: 'B', secret: {name: 's', key: 'k'}},
  ],
  files: [{path: '.config/agent.json', content: '{}'}],
  harness: {authMethod: 'key', mode: 'default', noReload: true},
  instructions: 'Be brief.',
  model: {...MODEL, key: KEY, allowed: ['n'], caBundle: {configMap: 'ca', key: 'ca.crt'}},
  groups: [],
  workspace: {size: '2Gi', storageClassName: 'fast', image: IMAGE},
  resources: {requests: {cpu: '1', memory: '1Gi'}, limits: {memory: '2Gi'}},
  network: {
    egress: [
      {host: '*.example.com', ports: [443]},
      {cidr: '192.0.2.0/24'},
      {cidr: '2001:db8::/32'},
      {cidr: '192.0.2.7/32'},
    ],
  },
  limits: {turn: '2h', queued: 8},
  idle: {sleepAfter: '5m', closeAfter: '7d'},
};
