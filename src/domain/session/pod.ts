import type {Manifest} from '../../api/kube-object.ts';
import type {Container, EnvVar, Pod, PodSpec, SecurityContext} from '../../api/kube-pod.ts';
import {
  ANNOTATION_ACCOUNT,
  ANNOTATION_ATTEMPT,
  LABEL_AGENT,
  LABEL_AGENT_UID,
  POD_PREFIX,
  uid8,
} from '../../api/meta.ts';
import {
  BLANKED_ENV,
  CONTAINER,
  DATA,
  ENTRY,
  PATH,
  PORT,
  RUNNER_ENV,
  RUNNER_NODE_FLAGS,
  RUNNER_UID,
  RUNTIME_IMAGE_ENV,
  VOLUME,
} from '../../api/pod.ts';
import {sharedName} from '../agent/isolation.ts';
import {launchOf} from '../agent/launch.ts';
import type {RevisionData} from '../agent/revision.ts';
import {podVolumes} from './pod-volumes.ts';
import {ownedBySession, type SessionIdentity, sessionLabels} from './volume.ts';

/** How the runtime comes into the pod. */
export type RuntimeDelivery = 'ImageVolume' | 'InitContainer';

/** Everything a session pod is made from. */
export interface PodInput {
  session: SessionIdentity;
  attempt: number;
  revision: RevisionData;
  /** Model that the Session chose, if any. */
  modelName?: string | undefined;
  /** Name of the volume claim. */
  claimName: string;
  /** The workspace is still to be seeded (the revision names a workspace image and the seed is not done). */
  seed: boolean;
  /** Runtime image by digest. */
  runtimeImage: string;
  delivery: RuntimeDelivery;
  /** Cluster addresses, never names: the pod has no DNS. */
  addresses: {gateway: string; egress: string};
  /** UID of the ServiceAccount that is there when the pod is made. */
  accountUid?: string | undefined;
}

/** Name of the pod of an attempt: one attempt can only ever have one pod. */
export function podName(session: SessionIdentity, attempt: number): string {
  return `${POD_PREFIX}${session.name}-${uid8(session.uid)}-${attempt}`;
}

/** True for the names that pods of any attempt of the Session have. */
export function isPodName(session: SessionIdentity, name: string): boolean {
  const attempt = Number(name.split('-').at(-1));
  return Number.isSafeInteger(attempt) && name === podName(session, attempt);
}

/** The pod of a session attempt: the one place where pods are made; nothing of a user passes through but what is named here. */
export function buildPod(input: PodInput): Manifest<Pod> {
  const {session, revision} = input;
  return {
    metadata: {
      name: podName(session, input.attempt),
      namespace: session.namespace,
      labels: {...sessionLabels(session), [LABEL_AGENT]: revision.agent.name, [LABEL_AGENT_UID]: revision.agent.uid},
      annotations: {
        [ANNOTATION_ATTEMPT]: String(input.attempt),
        ...(input.accountUid === undefined ? {} : {[ANNOTATION_ACCOUNT]: input.accountUid}),
      },
      ownerReferences: [ownedBySession(session)],
    },
    spec: podSpec(input),
  };
}

function podSpec(input: PodInput): PodSpec {
  const {revision} = input;
  const {spec} = revision;
  return {
    serviceAccountName: sharedName(revision.agent),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'None',
    dnsConfig: {nameservers: ['127.0.0.1']},
    ...(spec.runtimeClassName === undefined ? {} : {runtimeClassName: spec.runtimeClassName}),
    ...(spec.imagePullSecrets === undefined ? {} : {imagePullSecrets: spec.imagePullSecrets.map((name) => ({name}))}),
    securityContext: {
      runAsNonRoot: true,
      fsGroup: revision.uid,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: {type: 'RuntimeDefault'},
    },
    // A pod on a node that cannot be reached stays: its turn goes on if the node comes back. `out-of-service` still ends it.
    tolerations: [
      {key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute'},
      {key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute'},
    ],
    initContainers: [
      runner(input),
      ...(input.delivery === 'InitContainer' ? [copyRuntime(input)] : []),
      ...(input.seed ? [seed(input)] : []),
    ],
    containers: [agent(input)],
    volumes: podVolumes(input),
  };
}

/** Rights of every container: restricted Pod Security, read-only root. */
function rights(uid: number): SecurityContext {
  return {
    runAsUser: uid,
    runAsGroup: uid,
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: {drop: ['ALL']},
    seccompProfile: {type: 'RuntimeDefault'},
  };
}

const blanked: readonly EnvVar[] = BLANKED_ENV.map((name) => ({name, value: ''}));

function runner(input: PodInput): Container {
  const {session, addresses} = input;
  const key = input.revision.spec.model?.key !== undefined;
  const ca = input.revision.spec.model?.caBundle !== undefined;
  return {
    name: CONTAINER.runner,
    image: input.runtimeImage,
    imagePullPolicy: 'IfNotPresent',
    // Under init, for process 1 hears no TERM before it handles it: a pod deleted meanwhile would take its whole grace.
    command: [PATH.init, '--', PATH.node, ...RUNNER_NODE_FLAGS, `${PATH.app}/${ENTRY.runner}`],
    restartPolicy: 'Always',
    env: [
      ...blanked,
      {name: RUNNER_ENV.namespace, value: session.namespace},
      {name: RUNNER_ENV.session, value: session.name},
      {name: RUNNER_ENV.sessionUid, value: session.uid},
      {name: RUNNER_ENV.attempt, value: String(input.attempt)},
      {name: RUNNER_ENV.podUid, valueFrom: {fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.uid'}}},
      {name: RUNNER_ENV.gateway, value: `http://${bracketed(addresses.gateway)}:${PORT.gateway}`},
      {name: RUNNER_ENV.gatewayCanary, value: `${bracketed(addresses.gateway)}:${PORT.gatewayCanary}`},
      {name: RUNNER_ENV.egress, value: `${bracketed(addresses.egress)}:${PORT.egress}`},
      {name: RUNNER_ENV.egressCanary, value: `${bracketed(addresses.egress)}:${PORT.egressCanary}`},
      {name: RUNNER_ENV.launch, value: JSON.stringify(launchOf(input.revision, input.modelName))},
    ],
    resources: {requests: {cpu: '20m', memory: '64Mi'}, limits: {memory: '192Mi'}},
    securityContext: rights(RUNNER_UID),
    volumeMounts: [
      {name: VOLUME.socket, mountPath: PATH.socketFolder},
      {name: VOLUME.state, mountPath: PATH.state},
      {name: VOLUME.tokens, mountPath: PATH.tokens, readOnly: true},
      ...(key ? [{name: VOLUME.modelKey, mountPath: PATH.modelKey, readOnly: true}] : []),
      ...(ca ? [{name: VOLUME.modelCa, mountPath: PATH.modelCa, readOnly: true}] : []),
    ],
  };
}

/** IPv6 addresses stand in brackets wherever a port follows. */
function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Copies the runtime where image volumes are missing; after the runner, so that the sidecar is up first. */
function copyRuntime(input: PodInput): Container {
  return {
    name: CONTAINER.runtime,
    image: input.runtimeImage,
    imagePullPolicy: 'IfNotPresent',
    command: [PATH.node, `${PATH.app}/${ENTRY.copyRuntime}`, '/target'],
    env: [...blanked, {name: RUNTIME_IMAGE_ENV, value: input.runtimeImage}],
    resources: {requests: {cpu: '20m', memory: '64Mi'}, limits: {memory: '256Mi'}},
    securityContext: rights(RUNNER_UID),
    volumeMounts: [{name: VOLUME.runtime, mountPath: '/target'}],
  };
}

/**
 * Seeds the volume from the workspace image. With image volumes it is our image with the folder mounted; without them it
 * runs in the workspace image itself, so the source is that image's own folder.
 */
function seed(input: PodInput): Container {
  const mounted = input.delivery === 'ImageVolume';
  const image = input.revision.spec.workspace.image ?? input.runtimeImage;
  return {
    name: CONTAINER.seed,
    image: mounted ? input.runtimeImage : image,
    imagePullPolicy: 'IfNotPresent',
    command: [PATH.node, `${PATH.app}/${ENTRY.seed}`, mounted ? PATH.source : PATH.workspace],
    env: [...blanked],
    resources: {requests: {cpu: '20m', memory: '64Mi'}, limits: {memory: '256Mi'}},
    securityContext: rights(input.revision.uid),
    volumeMounts: [
      {name: VOLUME.data, mountPath: PATH.data},
      ...(mounted
        ? [{name: VOLUME.source, mountPath: PATH.source, subPath: DATA.workspace, readOnly: true}]
        : [{name: VOLUME.runtime, mountPath: PATH.runtime, readOnly: true}]),
    ],
  };
}

/** The agent: the user's image with our shim as parent of its process. */
function agent(input: PodInput): Container {
  const {revision, delivery} = input;
  const secrets = (revision.spec.env ?? []).flatMap((e) =>
    e.secret === undefined ? [] : [{name: e.name, valueFrom: {secretKeyRef: {name: e.secret.name, key: e.secret.key}}}],
  );
  return {
    name: CONTAINER.agent,
    image: revision.spec.image,
    imagePullPolicy: 'IfNotPresent',
    command: [PATH.init, '--', PATH.node, `${PATH.app}/${ENTRY.shim}`],
    workingDir: '/',
    env: [...blanked, ...secrets],
    resources: amounts(revision.spec.resources),
    securityContext: rights(revision.uid),
    volumeMounts: [
      {
        name: VOLUME.runtime,
        mountPath: PATH.runtime,
        readOnly: true,
        ...(delivery === 'ImageVolume' ? {subPath: 'carrel'} : {}),
      },
      {name: VOLUME.socket, mountPath: PATH.socketFolder, readOnly: true},
      {name: VOLUME.data, mountPath: PATH.workspace, subPath: DATA.workspace},
      {name: VOLUME.data, mountPath: PATH.home, subPath: DATA.home},
      {name: VOLUME.tmp, mountPath: '/tmp'},
    ],
  };
}

type Amounts = Record<string, string>;

/** Requests and limits without the members that are not set. */
function amounts(resources: RevisionData['spec']['resources']): {requests?: Amounts; limits?: Amounts} {
  const set = (of: {cpu?: string | undefined; memory?: string | undefined}): Amounts => ({
    ...(of.cpu === undefined ? {} : {cpu: of.cpu}),
    ...(of.memory === undefined ? {} : {memory: of.memory}),
  });
  return {
    ...(resources.requests === undefined ? {} : {requests: set(resources.requests)}),
    ...(resources.limits === undefined ? {} : {limits: set(resources.limits)}),
  };
}
