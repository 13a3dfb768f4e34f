// Shapes that every Kubernetes object shares. Interfaces only, so that `domain` can use them without knowing any client.

/** A pointer from a child to the object that owns it; the garbage collector follows it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** Metadata as an object is sent to the API server at create or apply. */
export interface NewObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly finalizers?: readonly string[] | undefined;
}

/** Metadata as the API server returns it: identity and version are always present. */
export interface ObjectMeta extends NewObjectMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string;
  /** RFC 3339; present = the object is terminating. */
  readonly deletionTimestamp?: string | undefined;
  readonly generation?: number | undefined;
}

/** Any object as read from the API server; kinds extend it with spec and status. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** What is sent to create or apply a T: no status (the server drops it), no server-made metadata; apiVersion and kind are filled in by the client. */
export type Manifest<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'status'> & {
  readonly metadata: NewObjectMeta;
};

/** One entry of `status.conditions`, the Kubernetes shape. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; changes only when `status` changes. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

/** Where an object lives: namespace is left out for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}
