/** Which layer may import which, and which packages it may use. A layer that is not here may not exist. */
export const LAYERS: Readonly<
  Record<string, {readonly layers: readonly string[]; readonly packages: readonly string[]}>
> = {
  /** The contract: schemas and constants. */
  api: {layers: [], packages: ['zod']},
  /** Decisions: no I/O, no clock, no environment. Hashing and reading addresses (`isIP`) are arithmetic. */
  domain: {layers: ['api'], packages: ['zod', 'node:crypto', 'node:net']},
  telemetry: {layers: ['api'], packages: ['pino', 'prom-client', 'node:*']},
  config: {layers: ['api', 'domain', 'telemetry'], packages: ['zod', 'node:*']},
  /** Listening, body limits and health for every process with an HTTP port. */
  http: {layers: ['api', 'domain', 'telemetry'], packages: ['zod', 'node:*']},
  kube: {layers: ['api', 'domain', 'telemetry'], packages: ['zod', 'yaml', 'lru-cache', 'node:*']},
  /** How controller and gateway speak to the archive. */
  'archive-client': {layers: ['api', 'domain', 'telemetry'], packages: ['zod', 'node:*']},
  controllers: {layers: ['api', 'domain', 'kube', 'telemetry'], packages: ['node:crypto', 'node:util']},
  gateway: {
    layers: ['api', 'domain', 'kube', 'telemetry', 'http', 'archive-client'],
    packages: ['zod', 'lru-cache', '@modelcontextprotocol/*', 'node:*'],
  },
  /** Of the API server it asks two things: whose token this is, and whether a Session is still there (decision 18). */
  archive: {layers: ['api', 'domain', 'kube', 'telemetry', 'http'], packages: ['zod', 'lru-cache', 'node:*']},
  egress: {layers: ['api', 'domain', 'kube', 'telemetry', 'http'], packages: ['zod', 'lru-cache', 'node:*']},
  /** In the session pod: no Kubernetes. */
  runner: {layers: ['api', 'domain', 'telemetry', 'http'], packages: ['zod', '@agentclientprotocol/sdk', 'node:*']},
  shim: {layers: ['api'], packages: ['node:*']},
  /** MCP over stdio, started by the agent itself: small, and without anything but the agent's own key. */
  bridge: {layers: ['api'], packages: ['node:*']},
  /** The only places where parts are put together. */
  bin: {
    layers: [
      'api',
      'domain',
      'telemetry',
      'config',
      'http',
      'kube',
      'archive-client',
      'controllers',
      'gateway',
      'archive',
      'egress',
      'runner',
      'shim',
      'bridge',
    ],
    packages: ['node:*'],
  },
};

/** Where a folder is bound more closely than its layer: its files import these files, or files below these folders, and nothing else of ours. */
export const NARROW: Readonly<Record<string, readonly string[]>> = {
  /** It stands in the agent's zone and is small: its protocol, and the names of the pod. */
  'src/shim/': ['src/shim/', 'src/api/wire/shim.ts', 'src/api/pod.ts'],
  'src/bridge/': ['src/bridge/', 'src/api/wire/mcp.ts'],
  /** A tool decides nothing about who calls, and knows no client: it works over what `tool.ts` hands to it. */
  'src/gateway/tools/': ['src/gateway/tools/', 'src/gateway/tool.ts', 'src/api/', 'src/domain/'],
};

/** Packages that one file alone may import, so that an upgrade is one file's business. */
export const ONE_IMPORTER = [/^@modelcontextprotocol\/server/] as const;

/** Names that say nothing about what is inside. */
export const BANNED_NAMES = [
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'manager',
  'service',
  'base',
  'misc',
  'types',
] as const;

/** Lines: half of all files stay below the first, none passes the second. */
export const SIZE = {median: 120, most: 400} as const;
