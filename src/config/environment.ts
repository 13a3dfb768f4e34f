import {z} from 'zod';
import {LOG_LEVELS} from '../telemetry/logger.ts';

/** A list in one variable: parts between commas, spaces around them do not count, empty parts are dropped. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** A TCP port; 0 = any free one, for tests. */
export const port = z.coerce.number().int().min(0).max(65_535);

/** Variables that every process in the cluster reads. */
export const commonVariables = {
  CARREL_LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  /** Set by the kubelet in every pod. */
  KUBERNETES_SERVICE_HOST: z.string().min(1).optional(),
  KUBERNETES_SERVICE_PORT: z.string().default('443'),
  /** Instead of the pod's service account: a kubeconfig file, for running a process by hand. */
  CARREL_KUBECONFIG: z.string().min(1).optional(),
} as const;

/** How to reach the API server. */
export type KubernetesAccess =
  | {readonly kind: 'inCluster'; readonly host: string; readonly port: string}
  | {readonly kind: 'kubeconfig'; readonly path: string};

/** The kubeconfig if one is named, else the pod's service account; throws when there is neither. */
export function kubernetesAccess(env: {
  CARREL_KUBECONFIG?: string | undefined;
  KUBERNETES_SERVICE_HOST?: string | undefined;
  KUBERNETES_SERVICE_PORT: string;
}): KubernetesAccess {
  if (env.CARREL_KUBECONFIG !== undefined) return {kind: 'kubeconfig', path: env.CARREL_KUBECONFIG};
  if (env.KUBERNETES_SERVICE_HOST === undefined) {
    throw new Error(
      'KUBERNETES_SERVICE_HOST is not set: run this in a pod, or set CARREL_KUBECONFIG to a kubeconfig file',
    );
  }
  return {kind: 'inCluster', host: env.KUBERNETES_SERVICE_HOST, port: env.KUBERNETES_SERVICE_PORT};
}

/** Check the environment of a process; throws one Error that names every wrong variable and what is allowed. */
export function readEnvironment<T extends z.ZodType>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const result = schema.safeParse(env);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`the environment of this process is wrong:\n${lines.join('\n')}`);
}
