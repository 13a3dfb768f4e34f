/** What the loopback side of the runner (MCP endpoint, model proxy, HTTPS proxy, name answerer, canary) and the rest agree on. */
import type {Launch} from '../../api/launch.ts';

/** A logger as both sides need it; pino fits. Never given secrets. */
export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Reads the projected token of one audience anew from its file. */
export type Tokens = {read(audience: 'mcp' | 'runner' | 'egress'): Promise<string>};

/** An address, never a name. */
export type Endpoint = {host: string; port: number};

/** What `startLoopback` needs. Ports of 0 mean any free one (tests); the pod uses `PORT`. */
export type LoopbackOptions = {
  launch: Launch;
  /** Of the session: where Secrets and ConfigMaps that are missing belong. */
  namespace: string;
  /** `http://<address>:<port>` of the gateway. */
  gateway: URL;
  egress: Endpoint;
  tokens: Tokens;
  /** Folder of the mounted model key (`launch.model.keyFile` in it). */
  secretsFolder: string;
  /** Folder of the mounted CA bundle (`launch.model.caFile` in it). */
  caFolder: string;
  /** Random key of this attempt: asked for on every loopback request. */
  key: string;
  log: Log;
  ports: {loopback: number; proxy: number; dns: number};
};

/** Why the agent must not be started, or runs with less. */
export type Finding = {type: string; reason: string; message: string};

/** The error of the most recent model call. */
export type ModelError = {
  /** Milliseconds since the epoch. */
  at: number;
  /** HTTP status, 0 when none came. */
  status: number;
  code: string;
  /** Without any key in it. */
  message: string;
};

/** Counters since the start of the loopback. */
export type ModelUsage = {inputTokens: number; outputTokens: number; requests: number};

/** The running loopback servers. */
export type Loopback = {
  readonly mcpUrl: string;
  readonly mcpToken: string;
  readonly modelUrl: string;
  readonly modelKey: string;
  readonly modelName: string;
  readonly proxyUrl: string;
  /** Whether `tools/list` was answered since the last `forgetTools()`. */
  toolsListed(): boolean;
  /** Called before each start of the agent: the new process has to list the tools again. */
  forgetTools(): void;
  /** Calls back at each answered `tools/list`; returns the unsubscribe function. */
  onToolsListed(callback: () => void): () => void;
  modelUsage(): ModelUsage;
  /** Latest failed model call that no later success of the same model has made good: a title call by a small model cures nothing. */
  lastModelError(): ModelError | undefined;
  /** Findings with which the agent is not started: SecretNotFound, OriginMismatch. */
  findings(): Finding[];
  close(): Promise<void>;
};

/** One probe of the network policy: `closed` when the allowed port answers and the canary is refused. */
export type IsolationVerdict = 'closed' | 'open' | 'unreachable';

/** `src/runner/loopback/index.ts` exports `startLoopback` and `checkIsolation` of these types. */
export type StartLoopback = (options: LoopbackOptions) => Promise<Loopback>;
/** Bounded by `timeoutMs` for both connects together; retries are the caller's. */
export type CheckIsolation = (probe: {
  allowed: Endpoint;
  canary: Endpoint;
  timeoutMs: number;
}) => Promise<IsolationVerdict>;
