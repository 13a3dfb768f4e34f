// How a start stands, from the pod alone. Two clocks: the pull of images, and limits.start from images present.
//
//   unscheduled --> pulling / mounting --> seeding --> agent container runs --> (runner reports)
//        |          20 s: ImagePullWaiting  |                |
//        |          3 min: ImagePull        10 min           limits.start
//        |               `--> a fault that somebody may mend: limits.start from when it was first seen, because only a
//        |                    container whose image is there can have one, and nothing says when that came
//   Unschedulable (waits for ever: a node may come)
import {wholeSeconds} from '../../api/condition-list.ts';
import type {ContainerStatus, Pod} from '../../api/kube-pod.ts';
import {CONTAINER, VOLUME} from '../../api/pod.ts';
import type {SessionConditionType, SessionReason, StoppedReason} from '../../api/v1alpha1/index.ts';
import {cutBytes} from '../status-size.ts';
import {noSource} from './pod-end.ts';

/** What decides about a start that the runner has not reported about. */
export interface StartSeen {
  pod: Pod;
  now: Date;
  /** `limits.start` of the revision, in seconds. */
  startSeconds: number;
  /** When the runner said that it starts the agent: its own clock runs from there. */
  reportedAt?: string | undefined;
  /** Since when a fault holds the start up that somebody may mend, if one did at the last look. */
  heldSince: string | undefined;
  /** Warnings of the kubelet: the only place where a missing Secret of a volume is told. */
  warnings: readonly string[];
  /** What refuses image volumes gets the runtime by copy: the setting says Auto. */
  maySwitch: boolean;
}

/** Still on its way (with what people should know), failed for good, or to be tried with the other delivery. */
export type StartState =
  | {
      kind: 'Waiting';
      /** Undefined: the pod itself shows what changes. */
      afterMs: number | undefined;
      reason: SessionReason;
      message: string;
      condition?: SessionConditionType;
      /** A fault that somebody may mend holds it up, since then. */
      heldSince?: string;
    }
  | {kind: 'Failed'; reason: SessionReason; stopped: StoppedReason; message: string}
  | {kind: 'SwitchDelivery'; message: string};

const PULL_WAITING_MS = 20_000;
const PULL_LIMIT_MS = 180_000;
const SEED_LIMIT_MS = 600_000;
/** The runner's own limit ends first and gives the better reason. */
const GRACE_MS = 10_000;
/** Until it starts the agent the runner has to begin itself, and looks for 10 s whether its network is closed. */
const RUNNER_MS = 20_000;
/** From when on the kubelet's warnings are worth a read. */
export const WARNINGS_AFTER_MS = 5_000;

/**
 * True for a container that began when the first look at the start was over, or was about to be: what was said then (that
 * images are pulled, for one) has to be taken back. One that began before is seen by that look.
 */
export function startedLate(pod: Pod, startedAt: string): boolean {
  const scheduled = scheduledAt(pod);
  return scheduled !== undefined && Date.parse(startedAt) - scheduled >= WARNINGS_AFTER_MS - 1_000;
}

type Rule = (seen: StartSeen) => StartState | undefined;

// First match decides.
const RULES: readonly Rule[] = [
  unschedulable,
  imageFailed,
  sourceMissing,
  deliveryRefused,
  configMissing,
  containerRefused,
  agentRuns,
  seeding,
  pulling,
];

/** Decides how a start stands. */
export function startState(seen: StartSeen): StartState {
  for (const rule of RULES) {
    const state = rule(seen);
    if (state !== undefined) return state;
  }
  return waiting('the pod waits for a node', 5_000);
}

/** When the pod was given a node; milliseconds since the epoch. */
export function scheduledAt(pod: Pod): number | undefined {
  const scheduled = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'True');
  return scheduled?.lastTransitionTime === undefined ? undefined : Date.parse(scheduled.lastTransitionTime);
}

function unschedulable({pod}: StartSeen): StartState | undefined {
  const told = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (told === undefined) return undefined;
  const said = told.message ?? told.reason ?? 'unknown';
  const unbound = /unbound immediate PersistentVolumeClaims/.test(said);
  // What to do stands behind it, and is worth more than the taints of every node.
  const message = `no node takes the pod: ${cutBytes(said, MAX_SCHEDULER)}${unbound ? unboundVolume(pod) : ''}`;
  return {kind: 'Waiting', afterMs: undefined, reason: 'Unschedulable', message};
}

/** Bytes of what the scheduler says. */
const MAX_SCHEDULER = 256;

/** The scheduler names neither claim nor class, and a claim keeps the class that it was made with. */
function unboundVolume({metadata: {namespace}, spec}: Pod): string {
  const claim =
    spec.volumes?.find((v) => v.persistentVolumeClaim !== undefined)?.persistentVolumeClaim?.claimName ?? '';
  const of = `pvc ${claim} -n ${namespace ?? ''}`;
  return `; why its volume was never made: kubectl describe ${of}. If the Agent named a wrong storage class: correct workspace.storageClassName, kubectl delete ${of} (it holds nothing yet), and restart until there is another`;
}

const PULL_REASONS = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
];
const FINAL_PULL =
  /not found|notfound|denied|unauthorized|forbidden|invalidargument|invalid reference|invalid image name|no match for platform/i;

function imageFailed(seen: StartSeen): StartState | undefined {
  const failed = waits(seen.pod).find((w) => PULL_REASONS.includes(w.reason));
  if (failed === undefined) return undefined;
  const message = `container ${failed.container} has not got its image (${failed.reason}): ${failed.message}`;
  const since = seen.now.getTime() - (scheduledAt(seen.pod) ?? seen.now.getTime());
  const hopeless = failed.reason === 'InvalidImageName' || FINAL_PULL.test(failed.message);
  if (hopeless || since >= PULL_LIMIT_MS) return {kind: 'Failed', reason: 'ImagePull', stopped: 'ImagePull', message};
  return {kind: 'Waiting', afterMs: 15_000, reason: 'ImagePullWaiting', message, condition: 'ImagePullWaiting'};
}

const NO_FOLDER = /sub ?path.*(no such file|does not exist|not a directory|only directory)/is;

/** The folder of the workspace image is the only path within a volume that the seed container mounts. */
function sourceMissing({pod}: StartSeen): StartState | undefined {
  const refused = waits(pod).some((w) => w.container === CONTAINER.seed && NO_FOLDER.test(w.message));
  return refused ? {kind: 'Failed', ...noSource(pod)} : undefined;
}

/** A runtime that knows no image volumes sees a mount of nothing. */
const UNKNOWN_TO_RUNTIME = /failed to mkdir ""/i;
const MOUNT_REFUSED = /ImageVolumeMountFailed|image volume/i;

/** What the seed container mounts is the Agent's: whatever is wrong with it must not switch the whole installation. */
function deliveryRefused(seen: StartSeen): StartState | undefined {
  const {pod, maySwitch} = seen;
  const mounted = pod.spec.volumes?.some((v) => v.name === VOLUME.runtime && v.image !== undefined) ?? false;
  if (!mounted || !maySwitch) return undefined;
  const refused = waits(pod).find(
    ({container, message}) =>
      UNKNOWN_TO_RUNTIME.test(message) || (container !== CONTAINER.seed && MOUNT_REFUSED.test(message)),
  );
  return refused === undefined ? undefined : {kind: 'SwitchDelivery', message: refused.message};
}

const MISSING =
  /(secret|configmap) ["\\]*([^"\\\s]+)["\\]* not found|couldn't find key|references non-existent (secret|config) key/i;

const LACKS_KEY = /couldn't find key|non-existent (secret|config) key/i;

/** A missing Secret of an environment variable is in the status, one of a volume only in the kubelet's warnings. */
function configMissing(seen: StartSeen): StartState | undefined {
  const refused = waits(seen.pod).find((w) => w.reason === 'CreateContainerConfigError')?.message;
  const warned = mounted(seen.pod) ? undefined : seen.warnings.find((w) => MISSING.test(w));
  const text = refused ?? warned;
  if (text === undefined) return undefined;
  const missing = MISSING.test(text);
  const reason: SessionReason = missing ? 'SecretNotFound' : 'StartFailed';
  return untilLimit(
    seen,
    reason,
    `the pod cannot be set up: ${text}${missing ? `; ${LACKS_KEY.test(text) ? 'add the key' : 'create it'}` : ''}`,
  );
}

/** Volumes come before images: what was warned of them is mended once the pod has its sandbox. */
function mounted(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'PodReadyToStartContainers' && c.status === 'True') ?? false;
}

function containerRefused(seen: StartSeen): StartState | undefined {
  const refused = waits(seen.pod).find((w) => w.reason === 'CreateContainerError' || w.reason === 'RunContainerError');
  if (refused === undefined) return undefined;
  return untilLimit(seen, 'StartFailed', `container ${refused.container} cannot be made: ${refused.message}`);
}

function agentRuns(seen: StartSeen): StartState | undefined {
  const running = status(seen.pod, CONTAINER.agent)?.state?.running;
  if (running === undefined) return undefined;
  const startedAt = Date.parse(running.startedAt);
  const since =
    seen.reportedAt === undefined ? startedAt + RUNNER_MS : Math.max(startedAt, Date.parse(seen.reportedAt));
  const left = since + seen.startSeconds * 1_000 + GRACE_MS - seen.now.getTime();
  if (left > 0) return waiting('the agent is being started', left);
  const restarts = status(seen.pod, CONTAINER.runner)?.restartCount ?? 0;
  const more = restarts === 0 ? '' : `; the runner was started again ${restarts} times`;
  const message = `the runner did not report within limits.start (${seen.startSeconds} s)${more}: see kubectl logs ${seen.pod.metadata.name} -c ${CONTAINER.runner}`;
  return {kind: 'Failed', reason: 'StartFailed', stopped: 'StartFailed', message};
}

function seeding(seen: StartSeen): StartState | undefined {
  for (const name of [CONTAINER.runtime, CONTAINER.seed]) {
    const running = status(seen.pod, name)?.state?.running;
    if (running === undefined) continue;
    const left = Date.parse(running.startedAt) + SEED_LIMIT_MS - seen.now.getTime();
    if (left > 0) return waiting(`container ${name} prepares the volumes`, left);
    const message = `container ${name} did not end within ${SEED_LIMIT_MS / 60_000} min`;
    return {kind: 'Failed', reason: 'StartFailed', stopped: 'StartFailed', message};
  }
  return undefined;
}

function pulling({pod, now, warnings}: StartSeen): StartState | undefined {
  const scheduled = scheduledAt(pod);
  if (scheduled === undefined) return undefined;
  const since = now.getTime() - scheduled;
  const last = warnings.at(-1);
  const detail = last === undefined ? '' : `; last warning: ${last}`;
  if (since < WARNINGS_AFTER_MS) return waiting('the pod is being set up', WARNINGS_AFTER_MS - since);
  if (since < PULL_WAITING_MS) return waiting(`the pod is being set up${detail}`, PULL_WAITING_MS - since);
  const mount = last !== undefined && /mount|attach/i.test(last);
  if (since >= PULL_LIMIT_MS) {
    const message = `images and volumes were not ready within ${PULL_LIMIT_MS / 60_000} min${detail}`;
    return mount
      ? {kind: 'Failed', reason: 'StartFailed', stopped: 'StartFailed', message}
      : {kind: 'Failed', reason: 'ImagePull', stopped: 'ImagePull', message};
  }
  if (mount && !mounted(pod)) {
    return waiting(
      `volumes have not been ready for ${PULL_WAITING_MS / 1_000} s or more${detail}`,
      PULL_LIMIT_MS - since,
    );
  }
  const message = `images have been pulling for ${PULL_WAITING_MS / 1_000} s or more${missingImages(pod)}; another pull may be before them${detail}`;
  const afterMs = PULL_LIMIT_MS - since;
  return {kind: 'Waiting', afterMs, reason: 'ImagePullWaiting', message, condition: 'ImagePullWaiting'};
}

/** Those that no container of the pod has yet, as the kubelet tells it. */
function missingImages(pod: Pod): string {
  const without = statuses(pod).flatMap(({imageID, name}) => (imageID === '' ? [name] : []));
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const images = new Set(containers.flatMap(({name, image}) => (without.includes(name) ? [image] : [])));
  return images.size === 0 ? '' : ` (${[...images].join(', ')})`;
}

/** A fault that somebody may still mend while the start lasts. What was pulled before it does not count. */
function untilLimit(seen: StartSeen, reason: SessionReason, message: string): StartState {
  const heldSince = seen.heldSince ?? wholeSeconds(seen.now);
  const left = Date.parse(heldSince) + seen.startSeconds * 1_000 - seen.now.getTime();
  const mend = `${message}. Mended within limits.start (${seen.startSeconds} s from ${heldSince} on), it goes on by itself`;
  if (left > 0) return {kind: 'Waiting', afterMs: left, reason, message: mend, heldSince};
  return {kind: 'Failed', reason, stopped: 'StartFailed', message};
}

function waiting(message: string, afterMs: number): StartState {
  return {kind: 'Waiting', afterMs: Math.max(1_000, afterMs), reason: 'Starting', message};
}

interface Waits {
  container: string;
  reason: string;
  message: string;
}

function waits(pod: Pod): Waits[] {
  return statuses(pod).flatMap((c) => {
    const state = c.state?.waiting;
    return state === undefined ? [] : [{container: c.name, reason: state.reason ?? '', message: state.message ?? ''}];
  });
}

function statuses(pod: Pod): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function status(pod: Pod, name: string): ContainerStatus | undefined {
  return statuses(pod).find((c) => c.name === name);
}
