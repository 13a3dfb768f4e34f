import {isJson, type Json} from '../../../src/api/json.ts';
import type {KindName} from './examples.ts';

const NAME =
  'must be the name of an object: lower-case letters, digits, - and ., with a letter or digit first and last';
const TIME =
  'must be a length of time: one number and one unit: s, m, h or d, for example 30s or 10m; the number is a whole one above 0';
const QUANTITY =
  'must be a quantity: a number, and m, k, Ki, M, Mi, G, Gi, T or Ti behind it if wanted, for example 500m or 1Gi';
const URL =
  'must be an https URL of host, port and path only, for example https://api.example.com/v1 (no user, query or fragment)';
const HOST =
  'must be a host name in lower case, such as api.example.com, or *.example.com for every name below it; no scheme, port or path. For addresses use cidr';
const PATH =
  'must be a path below the home folder: names of letters, digits, ., _ and -, with / between them and not first';

/** A text of a wrong form: where it stands in the spec, the text, and what is allowed there. */
const FORMS: readonly (readonly [KindName, string, string, string])[] = [
  ['Agent', 'env[0].name', '1ST', 'must be the name of a variable: letters, digits and _, with no digit first'],
  ['Agent', 'env[0].name', 'A=B', 'must be the name of a variable: letters, digits and _, with no digit first'],
  ['Agent', 'files[0].path', '/etc/passwd', PATH],
  ['Agent', 'files[0].path', 'a b', PATH],
  [
    'Agent',
    'groups[0]',
    'self-session',
    'must be the name of a tool group: lower-case letters and _, for example self_session',
  ],
  ['Agent', 'imagePullSecrets[0]', 'My_Secret', NAME],
  ['Agent', 'limits.turn', '90', TIME],
  ['Agent', 'limits.start', '1h30m', TIME],
  ['Agent', 'idle.sleepAfter', '0s', TIME],
  ['Agent', 'model.baseUrl', 'http://models.example', URL],
  ['Agent', 'model.baseUrl', 'https://user@models.example/v1', URL],
  ['Agent', 'network.egress[0].host', 'https://api.example.com', HOST],
  ['Agent', 'network.egress[0].host', '*', HOST],
  ['Agent', 'network.egress[0].host', 'API.example.com', HOST],
  ['Agent', 'resources.limits.memory', '1 GB', QUANTITY],
  ['Agent', 'workspace.size', 'large', QUANTITY],
  ['Session', 'agent', 'Scribe', NAME],
  ['Session', 'ttlAfterFinished', '1w', TIME],
  ['Turn', 'session', 'first_one', NAME],
  ['Turn', 'input[0].from.sha256', 'abc', 'must be a SHA-256 digest: 64 hex digits in lower case'],
  ['Question', 'session', '-first', NAME],
];

const MODEL = {name: 'm', dialect: 'OpenAIChat', baseUrl: 'https://models.example/v1'};

/** What stands beside a text, so that nothing else is wrong with the object. */
const BESIDE: Readonly<Record<string, Json>> = {
  'env[0].name': {value: '1'},
  'files[0].path': {content: ''},
  'model.baseUrl': MODEL,
  'input[0].from.sha256': {configMap: 'part'},
};

/** An object of a wrong type: the schema names field and type, and no policy comes before it. */
const TYPES: readonly (readonly [KindName, string, Json[string], string])[] = [
  ['Turn', 'input', 'hello', 'array: "string"'],
  ['Session', 'prompt', 5, 'string: "integer"'],
  ['Question', 'answer', 'yes', 'object: "string"'],
  ['Agent', 'command', '/bin/agent', 'array: "string"'],
];

const NOT_CHECKED =
  '* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Texts of a wrong form and values of a wrong type, with what kubectl says. */
export const INVALID_FORMS = [
  ...FORMS.map(([kind, path, value, allowed]) => ({
    kind,
    state: `${path}: ${value}`,
    spec: specWith(path, value, BESIDE[path] ?? {}),
    says: `The ${kind} "x" is invalid: spec.${path}: Invalid value: "${value}": ${allowed}`,
  })),
  ...TYPES.map(([kind, path, value, type]) => ({
    kind,
    state: `${path} of a wrong type`,
    spec: {[path]: value},
    says: `The ${kind} "x" is invalid: \n* spec.${path}: Invalid value: ${type.split(': ')[1]}: spec.${path} in body must be of type ${type}\n${NOT_CHECKED}`,
  })),
];

/** The members of a spec that hold `value` at `path`, with `beside` in the same object. */
function specWith(path: string, value: string, beside: Json): Json {
  const built = path.split('.').reduceRight<Json[string]>((below, part, at, parts) => {
    const [name = '', index] = part.split('[');
    const inner = index === undefined ? below : [below];
    return at === parts.length - 1 ? {...beside, [name]: inner} : {[name]: inner};
  }, value);
  if (!isJson(built)) throw new Error(`no object at ${path}`);
  return built;
}
