import type {Launch} from '../../api/launch.ts';

/** Wire format between the agent and its model. */
export type Dialect = NonNullable<Launch['model']>['dialect'];

/** A call that the model proxy lets through. */
export interface ModelCall {
  /** Path below the base URL of the provider; a literal, but for the checked name of a Gemini model. */
  path: string;
  /** Query to send: empty, or one of the literals of the table. */
  query: string;
  /** It asks the model for output, so it is counted and its failure fails the turn. */
  generates: boolean;
}

/** Why a call is not let through. */
export interface CallRefusal {
  status: 404 | 405;
  message: string;
}

interface Endpoint {
  method: 'GET' | 'POST';
  path: string | RegExp;
  generates: boolean;
}

/** Names of Gemini models stand inside the path: no slash, no percent sign, no leading dot. */
const GEMINI = (verb: string) => new RegExp(`^/models/[A-Za-z0-9][A-Za-z0-9._-]{0,127}:${verb}$`);

/** What each dialect may call. Paths are below the version segment, which the agent may send or leave out. */
const TABLE: Record<Dialect, {version: string; queries: readonly string[]; endpoints: readonly Endpoint[]}> = {
  AnthropicMessages: {
    version: '/v1',
    queries: ['beta=true'],
    endpoints: [
      {method: 'POST', path: '/messages', generates: true},
      {method: 'POST', path: '/messages/count_tokens', generates: false},
    ],
  },
  OpenAIChat: {
    version: '/v1',
    queries: [],
    endpoints: [
      {method: 'POST', path: '/chat/completions', generates: true},
      {method: 'GET', path: '/models', generates: false},
    ],
  },
  OpenAIResponses: {
    version: '/v1',
    queries: [],
    endpoints: [{method: 'POST', path: '/responses', generates: true}],
  },
  Gemini: {
    version: '/v1beta',
    queries: ['alt=sse'],
    endpoints: [
      {method: 'POST', path: GEMINI('generateContent'), generates: true},
      {method: 'POST', path: GEMINI('streamGenerateContent'), generates: true},
    ],
  },
};

const matches = (endpoint: Endpoint, path: string) =>
  typeof endpoint.path === 'string' ? endpoint.path === path : endpoint.path.test(path);

/**
 * Finds the call in the literal table. `target` is the request target after the local prefix, exactly as it came: it is
 * compared, never decoded or normalised, so `..`, `//`, `%2f` and absolute forms match nothing.
 */
export function matchCall(dialect: Dialect, method: string, target: string): ModelCall | CallRefusal {
  const {version, queries, endpoints} = TABLE[dialect];
  const mark = target.indexOf('?');
  const full = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const path = full.startsWith(`${version}/`) ? full.slice(version.length) : full;
  const found = endpoints.filter((endpoint) => matches(endpoint, path));
  if (found.length === 0) {
    return {status: 404, message: `not part of ${dialect}: the model proxy serves ${describeCalls(dialect)}`};
  }
  const endpoint = found.find((candidate) => candidate.method === method);
  if (!endpoint) return {status: 405, message: `method not allowed: use ${found.map((e) => e.method).join(' or ')}`};
  if (query !== '' && !queries.includes(query)) {
    const allowed = queries.length === 0 ? 'no query' : `no query, or ?${queries.join(' or ?')}`;
    return {status: 404, message: `query not allowed: ${dialect} takes ${allowed}; keys go into a header`};
  }
  return {path: `${version}${path}`, query, generates: endpoint.generates};
}

function describeCalls(dialect: Dialect): string {
  const {version, endpoints} = TABLE[dialect];
  const show = (path: string | RegExp) =>
    typeof path === 'string' ? path : `/models/{model}:${path.source.split(':').at(-1)?.replace('$', '')}`;
  return endpoints.map((endpoint) => `${endpoint.method} ${version}${show(endpoint.path)}`).join(', ');
}

/** Version segment of a dialect, with its leading slash. */
export function versionSegment(dialect: Dialect): string {
  return TABLE[dialect].version;
}
