import {z} from 'zod';
import {Launch} from '../api/launch.ts';
import {ENTRY, PATH, PORT, RUNNER_ENV} from '../api/pod.ts';

const Address = z
  .string()
  .regex(/^(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):\d+$/, 'must be <address>:<port>, an address and never a name')
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    return {host: text.slice(0, colon).replaceAll(/[[\]]/g, ''), port: Number(text.slice(colon + 1))};
  });

const Json = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    context.addIssue({code: 'custom', message: 'must be JSON'});
    return z.NEVER;
  }
});

const Environment = z.object({
  [RUNNER_ENV.namespace]: z.string().min(1),
  [RUNNER_ENV.session]: z.string().min(1),
  [RUNNER_ENV.sessionUid]: z.string().min(1),
  [RUNNER_ENV.attempt]: z.coerce.number().int(),
  [RUNNER_ENV.podUid]: z.string().min(1),
  [RUNNER_ENV.gateway]: z.url(),
  [RUNNER_ENV.gatewayCanary]: Address,
  [RUNNER_ENV.egress]: Address,
  [RUNNER_ENV.egressCanary]: Address,
  [RUNNER_ENV.launch]: Json.pipe(Launch),
  // Places: the contract of the pod, unless a test runs several runners on one machine.
  CARREL_RUNNER_SOCKET: z.string().default(PATH.socket),
  CARREL_RUNNER_STATE: z.string().default(PATH.state),
  CARREL_RUNNER_TOKENS: z.string().default(PATH.tokens),
  CARREL_RUNNER_MODEL_KEY: z.string().default(PATH.modelKey),
  CARREL_RUNNER_MODEL_CA: z.string().default(PATH.modelCa),
  CARREL_RUNNER_WORKSPACE: z.string().default(PATH.workspace),
  /** JSON: command of the stdio bridge as the agent starts it. */
  CARREL_RUNNER_BRIDGE: Json.pipe(z.array(z.string()).min(1)).default([PATH.node, `${PATH.app}/${ENTRY.mcpStdio}`]),
  CARREL_RUNNER_PORTS: z
    .string()
    .regex(/^\d+,\d+,\d+$/)
    .default(`${PORT.loopback},${PORT.proxy},${PORT.dns}`),
  CARREL_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

/** Settings of the runner; throws an error that names every wrong variable. */
export function readRunnerConfig(env: NodeJS.ProcessEnv) {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) throw new Error(`runner settings: ${z.prettifyError(parsed.error)}`);
  const values = parsed.data;
  const [loopback = 0, proxy = 0, dns = 0] = values.CARREL_RUNNER_PORTS.split(',').map(Number);
  return Object.freeze({
    namespace: values[RUNNER_ENV.namespace],
    session: values[RUNNER_ENV.session],
    sessionUid: values[RUNNER_ENV.sessionUid],
    attempt: values[RUNNER_ENV.attempt],
    podUid: values[RUNNER_ENV.podUid],
    gateway: new URL(values[RUNNER_ENV.gateway]),
    gatewayCanary: values[RUNNER_ENV.gatewayCanary],
    egress: values[RUNNER_ENV.egress],
    egressCanary: values[RUNNER_ENV.egressCanary],
    launch: values[RUNNER_ENV.launch],
    socket: values.CARREL_RUNNER_SOCKET,
    stateFolder: values.CARREL_RUNNER_STATE,
    tokensFolder: values.CARREL_RUNNER_TOKENS,
    modelKeyFolder: values.CARREL_RUNNER_MODEL_KEY,
    modelCaFolder: values.CARREL_RUNNER_MODEL_CA,
    workspace: values.CARREL_RUNNER_WORKSPACE,
    bridge: values.CARREL_RUNNER_BRIDGE,
    ports: {loopback, proxy, dns},
    logLevel: values.CARREL_LOG_LEVEL,
  });
}
