import {z} from 'zod';
import {PORT, RUNNER_UID} from '../api/pod.ts';
import {commonVariables, kubernetesAccess, port, readEnvironment} from './environment.ts';

/** The largest uid that Kubernetes takes. */
const LAST_UID = 2_147_483_647;

/** `<first>-<last>`: unix uids that agents run as. */
const uidRange = z
  .string()
  .regex(/^[1-9][0-9]{3,9}-[1-9][0-9]{3,9}$/, 'write <first>-<last>, for example 200000-265535')
  .transform((text) => {
    const [first, last] = text.split('-').map(Number);
    return {first: first ?? 0, last: last ?? 0};
  })
  .refine(({first, last}) => first <= last, 'the first number must not be larger than the last')
  .refine(({last}) => last <= LAST_UID, `the largest uid is ${LAST_UID}`)
  .refine(
    ({first, last}) => RUNNER_UID < first || last < RUNNER_UID,
    `${RUNNER_UID} is the uid of the runner, which holds the keys; write a range without it, for example 200000-265535`,
  );

const Variables = z.object({
  ...commonVariables,
  CARREL_RELEASE_NAMESPACE: z.string().min(1),
  /** Which replica this is; part of the leader's identity and of Events. */
  CARREL_POD_NAME: z.string().min(1).default('carrel-controller'),
  /** Name of the Lease that the leader holds, in the release namespace. */
  CARREL_LEASE: z.string().min(1).default('carrel-controller'),
  /** Image of runner, shim and the rest of the runtime, by digest. */
  CARREL_RUNTIME_IMAGE: z
    .string()
    .regex(/^[^@\s]+@sha256:[a-f0-9]{64}$/, 'name the image by digest: name@sha256:<64 hex digits>'),
  CARREL_RUNTIME_DELIVERY: z.enum(['Auto', 'ImageVolume', 'InitContainer']).default('Auto'),
  CARREL_GATEWAY_SERVICE: z.string().min(1).default('carrel-gateway'),
  CARREL_EGRESS_SERVICE: z.string().min(1).default('carrel-egress'),
  CARREL_ARCHIVE_URL: z.url({protocol: /^https?$/}),
  /** Token of audience `carrel-archive`. */
  CARREL_ARCHIVE_TOKEN_FILE: z.string().min(1).default('/var/run/secrets/carrel/archive/archive'),
  CARREL_AGENT_UID_RANGE: uidRange.default({first: 200_000, last: 265_535}),
  /** Access mode of session volumes. */
  CARREL_VOLUME_ACCESS_MODE: z.enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany']).default('ReadWriteOnce'),
  CARREL_HEALTH_PORT: port.default(PORT.health),
});

/** Reads and checks the settings of the controller: its environment. */
export function readControllerConfig(env: NodeJS.ProcessEnv = process.env) {
  const v = readEnvironment(Variables, env);
  return Object.freeze({
    logLevel: v.CARREL_LOG_LEVEL,
    kubernetes: kubernetesAccess(v),
    releaseNamespace: v.CARREL_RELEASE_NAMESPACE,
    podName: v.CARREL_POD_NAME,
    lease: v.CARREL_LEASE,
    runtimeImage: v.CARREL_RUNTIME_IMAGE,
    delivery: v.CARREL_RUNTIME_DELIVERY,
    endpoints: {
      namespace: v.CARREL_RELEASE_NAMESPACE,
      gateway: v.CARREL_GATEWAY_SERVICE,
      egress: v.CARREL_EGRESS_SERVICE,
    },
    archive: {url: v.CARREL_ARCHIVE_URL, tokenFile: v.CARREL_ARCHIVE_TOKEN_FILE},
    agentUids: v.CARREL_AGENT_UID_RANGE,
    accessMode: v.CARREL_VOLUME_ACCESS_MODE,
    healthPort: v.CARREL_HEALTH_PORT,
  });
}
