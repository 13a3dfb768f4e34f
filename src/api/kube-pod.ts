// The parts of a pod that Carrel reads or writes; everything else passes through untouched.
import type {KubeObject} from './kube-object.ts';

type Labels = Readonly<Record<string, string>>;

/** A value for an environment variable: literal, or from a Secret, a ConfigMap or a field of the pod. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?:
    | {
        readonly secretKeyRef?:
          | {readonly name: string; readonly key: string; readonly optional?: boolean | undefined}
          | undefined;
        readonly configMapKeyRef?:
          | {readonly name: string; readonly key: string; readonly optional?: boolean | undefined}
          | undefined;
        readonly fieldRef?: {readonly fieldPath: string; readonly apiVersion?: string | undefined} | undefined;
      }
    | undefined;
}

/** Where a volume appears in a container. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly recursiveReadOnly?: string | undefined;
}

/** Rights of one container. */
export interface SecurityContext {
  readonly runAsUser?: number | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly readOnlyRootFilesystem?: boolean | undefined;
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly privileged?: boolean | undefined;
  readonly capabilities?:
    | {readonly add?: readonly string[] | undefined; readonly drop?: readonly string[] | undefined}
    | undefined;
  readonly seccompProfile?: {readonly type: string; readonly localhostProfile?: string | undefined} | undefined;
}

/** A check that the kubelet makes. */
export interface Probe {
  readonly exec?: {readonly command: readonly string[]} | undefined;
  readonly httpGet?:
    | {readonly path: string; readonly port: number | string; readonly host?: string | undefined}
    | undefined;
  readonly tcpSocket?: {readonly port: number | string} | undefined;
  readonly initialDelaySeconds?: number | undefined;
  readonly periodSeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly failureThreshold?: number | undefined;
}

/** One container, sidecar (restartPolicy Always in initContainers) or init container. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  readonly workingDir?: string | undefined;
  readonly env?: readonly EnvVar[] | undefined;
  readonly resources?: {readonly requests?: Labels | undefined; readonly limits?: Labels | undefined} | undefined;
  readonly volumeMounts?: readonly VolumeMount[] | undefined;
  readonly securityContext?: SecurityContext | undefined;
  readonly restartPolicy?: string | undefined;
  readonly startupProbe?: Probe | undefined;
  readonly readinessProbe?: Probe | undefined;
  readonly livenessProbe?: Probe | undefined;
  readonly ports?:
    | readonly {
        readonly name?: string | undefined;
        readonly containerPort: number;
        readonly protocol?: string | undefined;
      }[]
    | undefined;
  readonly terminationMessagePolicy?: string | undefined;
  readonly terminationMessagePath?: string | undefined;
}

/** One source of a projected volume. */
export interface ProjectedSource {
  readonly serviceAccountToken?:
    | {readonly path: string; readonly audience?: string | undefined; readonly expirationSeconds?: number | undefined}
    | undefined;
  readonly configMap?:
    | {readonly name: string; readonly items?: readonly {readonly key: string; readonly path: string}[] | undefined}
    | undefined;
  readonly secret?:
    | {readonly name: string; readonly items?: readonly {readonly key: string; readonly path: string}[] | undefined}
    | undefined;
}

/** Where a volume comes from. */
export interface Volume {
  readonly name: string;
  readonly emptyDir?: {readonly medium?: string | undefined; readonly sizeLimit?: string | undefined} | undefined;
  readonly persistentVolumeClaim?: {readonly claimName: string; readonly readOnly?: boolean | undefined} | undefined;
  readonly image?: {readonly reference: string; readonly pullPolicy?: string | undefined} | undefined;
  readonly secret?:
    | {
        readonly secretName: string;
        readonly optional?: boolean | undefined;
        readonly items?: readonly {readonly key: string; readonly path: string}[] | undefined;
        readonly defaultMode?: number | undefined;
      }
    | undefined;
  readonly configMap?:
    | {
        readonly name: string;
        readonly optional?: boolean | undefined;
        readonly items?: readonly {readonly key: string; readonly path: string}[] | undefined;
        readonly defaultMode?: number | undefined;
      }
    | undefined;
  readonly projected?:
    | {readonly sources: readonly ProjectedSource[]; readonly defaultMode?: number | undefined}
    | undefined;
}

/** A taint that a pod accepts. */
export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
  readonly tolerationSeconds?: number | undefined;
}

/** What a pod is to be. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[] | undefined;
  readonly ephemeralContainers?: readonly {readonly name: string; readonly image: string}[] | undefined;
  readonly volumes?: readonly Volume[] | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly enableServiceLinks?: boolean | undefined;
  readonly restartPolicy?: string | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly activeDeadlineSeconds?: number | undefined;
  readonly securityContext?:
    | (Pick<SecurityContext, 'runAsUser' | 'runAsGroup' | 'runAsNonRoot' | 'seccompProfile'> & {
        readonly fsGroup?: number | undefined;
        readonly fsGroupChangePolicy?: string | undefined;
        readonly supplementalGroups?: readonly number[] | undefined;
        readonly supplementalGroupsPolicy?: string | undefined;
      })
    | undefined;
  readonly runtimeClassName?: string | undefined;
  readonly imagePullSecrets?: readonly {readonly name: string}[] | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostPID?: boolean | undefined;
  readonly hostIPC?: boolean | undefined;
  readonly hostUsers?: boolean | undefined;
  readonly shareProcessNamespace?: boolean | undefined;
  readonly hostname?: string | undefined;
  readonly dnsPolicy?: string | undefined;
  readonly dnsConfig?:
    | {
        readonly nameservers?: readonly string[] | undefined;
        readonly options?: readonly {readonly name: string; readonly value?: string | undefined}[] | undefined;
      }
    | undefined;
  readonly hostAliases?: readonly {readonly ip: string; readonly hostnames: readonly string[]}[] | undefined;
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: Labels | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly priorityClassName?: string | undefined;
}

/** How one container stands. */
export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly ready: boolean;
  readonly started?: boolean | undefined;
  readonly restartCount: number;
  readonly state?: ContainerState | undefined;
  readonly lastState?: ContainerState | undefined;
}

/** Exactly one member is set; none means waiting. */
export interface ContainerState {
  readonly waiting?: {readonly reason?: string | undefined; readonly message?: string | undefined} | undefined;
  readonly running?: {readonly startedAt: string} | undefined;
  readonly terminated?:
    | {
        readonly exitCode: number;
        readonly signal?: number | undefined;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        readonly startedAt?: string | undefined;
        readonly finishedAt?: string | undefined;
      }
    | undefined;
}

/** A condition of a built-in kind: reason and message may be missing. */
export interface CoreCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

/** How a pod stands. */
export interface PodStatus {
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly podIP?: string | undefined;
  readonly podIPs?: readonly {readonly ip: string}[] | undefined;
  readonly hostIP?: string | undefined;
  readonly startTime?: string | undefined;
  readonly conditions?: readonly CoreCondition[] | undefined;
  readonly containerStatuses?: readonly ContainerStatus[] | undefined;
  readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
}

/** core/v1 Pod. */
export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus | undefined;
}
