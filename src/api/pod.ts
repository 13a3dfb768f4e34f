/** The contract between the pod that the controller builds and the processes that run in it. */

/** Container names. */
export const CONTAINER = {runner: 'runner', agent: 'agent', seed: 'seed', runtime: 'runtime'} as const;

/** Volume names. */
export const VOLUME = {
  runtime: 'carrel-runtime',
  socket: 'carrel-socket',
  state: 'carrel-state',
  tokens: 'carrel-tokens',
  modelKey: 'carrel-model-key',
  modelCa: 'carrel-model-ca',
  data: 'carrel-data',
  tmp: 'carrel-tmp',
  source: 'carrel-source',
} as const;

/** Paths inside the containers. */
export const PATH = {
  /** Where the runtime image's folder `carrel` is mounted or copied, in every container. */
  runtime: '/carrel',
  node: '/carrel/bin/node',
  init: '/carrel/bin/tini',
  app: '/carrel/app',
  socketFolder: '/run/carrel',
  socket: '/run/carrel/shim.sock',
  /** Runner only: journal, epoch, nonce and loopback secrets; memory, lives as long as the pod. */
  state: '/var/run/carrel',
  tokens: '/var/run/secrets/carrel',
  modelKey: '/var/run/secrets/carrel-model',
  modelCa: '/var/run/carrel-model-ca',
  workspace: '/workspace',
  home: '/home/agent',
  /** Seed container only: the whole volume, and the workspace image. */
  data: '/data',
  source: '/source',
} as const;

/** Folders on the session's volume; the marker stands outside everything that the agent mounts. */
export const DATA = {
  workspace: 'workspace',
  home: 'home',
  seedTemporary: '.carrel-seeding',
  seedMarker: '.carrel-seeded',
} as const;

/** Exit codes of the seed container, beside 0 and 1. */
export const SEED_EXIT = {
  /** The volume holds content but no marker. */
  incomplete: 3,
  /** The workspace image has no folder to seed from. */
  noSource: 4,
} as const;

/** Token files in `PATH.tokens`, one for each audience. */
export const TOKEN_FILE = {mcp: 'mcp', runner: 'runner', egress: 'egress'} as const;

/** Loopback ports of the runner. 53 answers NXDOMAIN. */
export const PORT = {
  loopback: 9100,
  proxy: 9101,
  dns: 53,
  /** Of the gateway and the egress relay: the service port of each, and the one that no policy allows. */
  gateway: 8080,
  gatewayCanary: 8081,
  egress: 8080,
  egressCanary: 8081,
  archive: 8080,
  health: 8082,
} as const;

/** Uid and gid of the runner; owner of the runtime's files. */
export const RUNNER_UID = 65532;

/** Environment of the runner, written by the pod builder and read by `src/config/runner.ts`. */
export const RUNNER_ENV = {
  namespace: 'CARREL_NAMESPACE',
  session: 'CARREL_SESSION',
  sessionUid: 'CARREL_SESSION_UID',
  attempt: 'CARREL_ATTEMPT',
  podUid: 'CARREL_POD_UID',
  /** `http://<address>:<port>` of the gateway: an address, never a name. */
  gateway: 'CARREL_GATEWAY',
  /** `<address>:<port>` of the gateway's canary port. */
  gatewayCanary: 'CARREL_GATEWAY_CANARY',
  /** `<address>:<port>` of the egress relay, and of its canary port. */
  egress: 'CARREL_EGRESS',
  egressCanary: 'CARREL_EGRESS_CANARY',
  /** JSON of `Launch` (`launch.ts`). */
  launch: 'CARREL_LAUNCH',
} as const;

/**
 * Environment of the init container that copies the runtime: the image that the pod was made with. Nobody reads it in the pod;
 * the API lets images of a pod be changed and environments not, so it tells what is right.
 */
export const RUNTIME_IMAGE_ENV = 'CARREL_RUNTIME_IMAGE';

/** Environment names that the agent's process gets from the runner; the same names are placeholders in `files[]`. */
export const AGENT_ENV = {
  modelUrl: 'CARREL_MODEL_URL',
  modelKey: 'CARREL_MODEL_KEY',
  modelName: 'CARREL_MODEL_NAME',
  mcpUrl: 'CARREL_MCP_URL',
  mcpToken: 'CARREL_MCP_TOKEN',
  proxyUrl: 'CARREL_PROXY_URL',
} as const;

/** Blanked for our own binaries, so that an image's values never reach the loader or Node. */
export const BLANKED_ENV = ['NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH'] as const;

/**
 * How Node runs the runner: it keeps garbage for less long, which under an agent that floods it is worth about 10 MB. The heap
 * has no limit of its own, for one large message must not end the runner; nothing here may make its start slower.
 */
export const RUNNER_NODE_FLAGS = ['--max-semi-space-size=1'] as const;

/** Entry points in `PATH.app`, one file for each process. */
export const ENTRY = {
  runner: 'runner.js',
  shim: 'shim.js',
  seed: 'seed.js',
  copyRuntime: 'copy-runtime.js',
  /** Started by an agent that takes MCP over stdio only. */
  mcpStdio: 'mcp-stdio.js',
  controller: 'controller.js',
  gateway: 'gateway.js',
  archive: 'archive.js',
  egress: 'egress.js',
  scriptedAgent: 'scripted-agent.js',
} as const;
