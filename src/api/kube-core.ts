// The parts of Kubernetes' other kinds that Carrel reads or writes; everything else passes through untouched. Pods: kube-pod.ts.
import type {KubeObject} from './kube-object.ts';
import type {CoreCondition} from './kube-pod.ts';

type Labels = Readonly<Record<string, string>>;

/** core/v1 PersistentVolumeClaim. */
export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[];
    readonly resources: {readonly requests: Labels};
    readonly storageClassName?: string | undefined;
    readonly volumeMode?: string | undefined;
    readonly volumeName?: string | undefined;
  };
  readonly status?:
    | {readonly phase?: string | undefined; readonly conditions?: readonly CoreCondition[] | undefined}
    | undefined;
}

/** core/v1 ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly imagePullSecrets?: readonly {readonly name: string}[] | undefined;
}

/** core/v1 ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: Labels | undefined;
  readonly immutable?: boolean | undefined;
}

/** core/v1 Namespace. */
export interface Namespace extends KubeObject {
  readonly status?: {readonly phase?: string | undefined} | undefined;
}

/** core/v1 Node. */
export interface Node extends KubeObject {
  readonly spec?:
    | {
        readonly podCIDR?: string | undefined;
        readonly podCIDRs?: readonly string[] | undefined;
        readonly unschedulable?: boolean | undefined;
      }
    | undefined;
  readonly status?:
    | {
        readonly addresses?: readonly {readonly type: string; readonly address: string}[] | undefined;
        readonly conditions?: readonly CoreCondition[] | undefined;
      }
    | undefined;
}

/** networking.k8s.io/v1 ServiceCIDR. */
export interface ServiceCidr extends KubeObject {
  readonly spec: {readonly cidrs: readonly string[]};
}

/** Pods or addresses that a NetworkPolicy rule names. */
export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelector | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly ipBlock?: {readonly cidr: string; readonly except?: readonly string[] | undefined} | undefined;
}

/** Labels that must match. */
export interface LabelSelector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?:
    | readonly {readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined}[]
    | undefined;
}

/** A port that a NetworkPolicy rule names. */
export interface NetworkPolicyPort {
  readonly port?: number | string | undefined;
  readonly endPort?: number | undefined;
  readonly protocol?: string | undefined;
}

/** networking.k8s.io/v1 NetworkPolicy. */
export interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes?: readonly string[] | undefined;
    readonly ingress?:
      | readonly {
          readonly from?: readonly NetworkPolicyPeer[] | undefined;
          readonly ports?: readonly NetworkPolicyPort[] | undefined;
        }[]
      | undefined;
    readonly egress?:
      | readonly {
          readonly to?: readonly NetworkPolicyPeer[] | undefined;
          readonly ports?: readonly NetworkPolicyPort[] | undefined;
        }[]
      | undefined;
  };
}

/** apps/v1 ControllerRevision: immutable data under a number. */
export interface ControllerRevision extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  readonly spec?:
    | {
        readonly holderIdentity?: string | null | undefined;
        readonly leaseDurationSeconds?: number | undefined;
        readonly acquireTime?: string | undefined;
        /** RFC 3339 with microseconds. */
        readonly renewTime?: string | undefined;
        readonly leaseTransitions?: number | undefined;
      }
    | undefined;
}

/** events.k8s.io/v1 Event. */
export interface KubeEvent extends KubeObject {
  readonly eventTime: string;
  readonly reason: string;
  readonly action: string;
  readonly type: string;
  readonly note?: string | undefined;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference | undefined;
  readonly series?: {readonly count: number; readonly lastObservedTime: string} | undefined;
}

/** A pointer to any object, as Events carry it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}
