import type {KubeObject} from './kube-object.ts';

/** The built-in kinds, as far as we write or read them. The API server validates; unknown fields are simply not named here. */

export interface EnvVar {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?:
    | {
        readonly secretKeyRef?: {readonly name: string; readonly key: string} | undefined;
        readonly fieldRef?: {readonly fieldPath: string} | undefined;
      }
    | undefined;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface ResourceAmounts {
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
}

export interface SecurityContext {
  readonly runAsUser?: number | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly readOnlyRootFilesystem?: boolean | undefined;
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly capabilities?: {readonly drop: readonly string[]} | undefined;
  readonly seccompProfile?: {readonly type: string} | undefined;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: readonly EnvVar[] | undefined;
  readonly volumeMounts?: readonly VolumeMount[] | undefined;
  readonly resources?:
    | {readonly requests?: ResourceAmounts | undefined; readonly limits?: ResourceAmounts | undefined}
    | undefined;
  readonly restartPolicy?: 'Always' | undefined;
  readonly securityContext?: SecurityContext | undefined;
  readonly workingDir?: string | undefined;
}

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

export interface Volume {
  readonly name: string;
  readonly image?: {readonly reference: string; readonly pullPolicy?: string | undefined} | undefined;
  readonly emptyDir?: {readonly medium?: string | undefined; readonly sizeLimit?: string | undefined} | undefined;
  readonly persistentVolumeClaim?: {readonly claimName: string} | undefined;
  readonly secret?:
    | {
        readonly secretName: string;
        readonly optional?: boolean | undefined;
        readonly items?: readonly KeyToPath[] | undefined;
        readonly defaultMode?: number | undefined;
      }
    | undefined;
  readonly configMap?:
    | {
        readonly name: string;
        readonly optional?: boolean | undefined;
        readonly items?: readonly KeyToPath[] | undefined;
      }
    | undefined;
  readonly projected?:
    | {
        readonly sources: readonly {
          readonly serviceAccountToken?: {
            readonly audience: string;
            readonly expirationSeconds: number;
            readonly path: string;
          };
        }[];
        readonly defaultMode?: number | undefined;
      }
    | undefined;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly effect?: string | undefined;
  readonly value?: string | undefined;
  readonly tolerationSeconds?: number | undefined;
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly restartPolicy: 'Never' | 'Always' | 'OnFailure';
  readonly terminationGracePeriodSeconds: number;
  readonly dnsPolicy?: string | undefined;
  readonly dnsConfig?: {readonly nameservers: readonly string[]} | undefined;
  readonly runtimeClassName?: string | undefined;
  readonly imagePullSecrets?: readonly {readonly name: string}[] | undefined;
  readonly nodeName?: string | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostPID?: boolean | undefined;
  readonly hostIPC?: boolean | undefined;
  readonly shareProcessNamespace?: boolean | undefined;
  readonly securityContext?:
    | (SecurityContext & {
        readonly fsGroup?: number | undefined;
        readonly fsGroupChangePolicy?: string | undefined;
        readonly supplementalGroups?: readonly number[] | undefined;
      })
    | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly containers: readonly Container[];
  readonly ephemeralContainers?: readonly {readonly name: string}[] | undefined;
  readonly volumes?: readonly Volume[] | undefined;
}

export interface ContainerState {
  readonly waiting?: {readonly reason?: string | undefined; readonly message?: string | undefined} | undefined;
  readonly running?: {readonly startedAt?: string | undefined} | undefined;
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

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string | undefined;
  readonly imageID?: string | undefined;
  readonly ready?: boolean | undefined;
  readonly started?: boolean | undefined;
  readonly restartCount?: number | undefined;
  readonly state?: ContainerState | undefined;
  readonly lastState?: ContainerState | undefined;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown' | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly startTime?: string | undefined;
  readonly conditions?: readonly PodCondition[] | undefined;
  readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
  readonly containerStatuses?: readonly ContainerStatus[] | undefined;
}

export interface PodObject extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus | undefined;
}

export interface VolumeClaimObject extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[];
    readonly storageClassName?: string | undefined;
    readonly resources: {readonly requests: {readonly storage: string}};
    readonly volumeName?: string | undefined;
  };
  readonly status?: {readonly phase?: string | undefined} | undefined;
}

export interface ServiceAccountObject extends KubeObject {
  readonly automountServiceAccountToken?: boolean | undefined;
}

export interface NetworkPolicyPeer {
  readonly podSelector?: {readonly matchLabels: Readonly<Record<string, string>>} | undefined;
  readonly namespaceSelector?: {readonly matchLabels: Readonly<Record<string, string>>} | undefined;
}

export interface NetworkPolicyObject extends KubeObject {
  readonly spec: {
    readonly podSelector: {readonly matchLabels: Readonly<Record<string, string>>};
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly object[] | undefined;
    readonly egress?:
      | readonly {
          readonly to: readonly NetworkPolicyPeer[];
          readonly ports: readonly {readonly protocol: string; readonly port: number}[];
        }[]
      | undefined;
  };
}

export interface ControllerRevisionObject extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

export interface NodeObject extends KubeObject {
  readonly spec?: {readonly podCIDRs?: readonly string[] | undefined} | undefined;
  readonly status?:
    | {
        readonly conditions?: readonly PodCondition[] | undefined;
        readonly addresses?: readonly {readonly type: string; readonly address: string}[] | undefined;
      }
    | undefined;
}

export interface ServiceObject extends KubeObject {
  readonly spec: {readonly clusterIP?: string | undefined; readonly clusterIPs?: readonly string[] | undefined};
}

export interface ServiceCidrObject extends KubeObject {
  readonly spec: {readonly cidrs: readonly string[]};
}

export interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly immutable?: boolean | undefined;
}
