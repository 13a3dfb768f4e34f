// The table of pod fields: which make a live pod another pod than the one that was asked for, and which do not, each with its
// reason. A field that the tables do not name is not compared at runtime, because a newer API server fills in defaults of its
// own; a test against the API server's own schema fails when it has one that nobody has decided about.
import type {Container, PodSpec, SecurityContext, VolumeMount} from '../../api/kube-pod.ts';

/** How one field of a live pod is judged. */
export type FieldRule =
  /** It must be as asked for. `like` lists what means the same as a field that is not set: what the server fills in. */
  | {readonly compared: 'whole'; readonly like: readonly unknown[]}
  /** It must be as asked for, where it is asked for: what somebody else sets takes rights away only. */
  | {readonly compared: 'asked'}
  /** Only these members count. */
  | {readonly compared: 'members'; readonly members: readonly string[]}
  /** Compared by rules of its own, see `pod-compare.ts`. */
  | {readonly compared: 'apart'}
  | {readonly compared: 'no'; readonly because: string};

const same = (...like: unknown[]): FieldRule => ({compared: 'whole', like});
const asked: FieldRule = {compared: 'asked'};
const members = (...names: string[]): FieldRule => ({compared: 'members', members: names});
const apart: FieldRule = {compared: 'apart'};
const not = (because: string): FieldRule => ({compared: 'no', because});

const WHERE = 'says where and when the pod is scheduled, and gives it nothing';
const AMOUNT = 'amounts, which quotas and limit ranges of the namespace set; a device is a claim';
const NAME = 'a name that nothing resolves and no policy looks at';

type Rules<T> = Record<keyof Required<T>, FieldRule> & Record<string, FieldRule>;

/** spec of a pod. */
export const POD_FIELDS = {
  activeDeadlineSeconds: not('ends a pod earlier; the Session says that it was lost'),
  affinity: not(WHERE),
  automountServiceAccountToken: same(),
  containers: apart,
  // Nothing is resolved in the pod: the one nameserver is the runner, and what is searched or tried again does not matter.
  dnsConfig: members('nameservers'),
  dnsPolicy: same(),
  enableServiceLinks: same(),
  ephemeralContainers: same(),
  hostAliases: same(),
  hostIPC: same(false),
  hostNetwork: same(false),
  hostPID: same(false),
  hostUsers: asked,
  hostname: not(NAME),
  hostnameOverride: not(NAME),
  imagePullSecrets: not('the kubelet pulls with them; images are named by digest'),
  initContainers: apart,
  nodeName: not(WHERE),
  nodeSelector: not(WHERE),
  os: same({name: 'linux'}),
  overhead: not('follows from the RuntimeClass'),
  preemptionPolicy: not(WHERE),
  priority: not(WHERE),
  priorityClassName: not(WHERE),
  readinessGates: not('nothing waits for the pod to be ready'),
  resourceClaims: same(),
  resources: not(AMOUNT),
  restartPolicy: same(),
  runtimeClassName: same(),
  schedulerName: not(WHERE),
  schedulingGates: not(WHERE),
  schedulingGroup: not(WHERE),
  securityContext: apart,
  serviceAccount: not('the old name of serviceAccountName, kept equal by the server'),
  serviceAccountName: same(),
  setHostnameAsFQDN: not(NAME),
  shareProcessNamespace: same(false),
  subdomain: not(NAME),
  terminationGracePeriodSeconds: not('how long an end may take'),
  tolerations: not(WHERE),
  topologySpreadConstraints: not(WHERE),
  volumes: apart,
  workloadRef: not(WHERE),
} satisfies Rules<PodSpec>;

/** spec.securityContext of a pod. */
export const POD_SECURITY_FIELDS = {
  appArmorProfile: same({type: 'RuntimeDefault'}),
  fsGroup: same(),
  fsGroupChangePolicy: not('when the volume is given to the group, not to whom'),
  runAsGroup: same(),
  runAsNonRoot: same(),
  runAsUser: same(),
  seLinuxChangePolicy: not('how the volume is labelled'),
  // The level of a namespace only confines.
  seLinuxOptions: members('user', 'role', 'type'),
  seccompProfile: same(),
  supplementalGroups: same(),
  supplementalGroupsPolicy: asked,
  sysctls: same(),
  windowsOptions: same(),
} satisfies Rules<NonNullable<PodSpec['securityContext']>>;

/** One container, init container or sidecar. */
export const CONTAINER_FIELDS = {
  args: same(),
  command: same(),
  env: apart,
  envFrom: same(),
  image: same(),
  imagePullPolicy: not('the image is named by digest'),
  lifecycle: same(),
  livenessProbe: same(),
  name: apart,
  ports: same(),
  readinessProbe: same(),
  resizePolicy: not(AMOUNT),
  resources: members('claims'),
  restartPolicy: same(),
  restartPolicyRules: same(),
  securityContext: apart,
  startupProbe: same(),
  stdin: same(false),
  stdinOnce: same(false),
  terminationMessagePath: not('what a container says of its end is never read'),
  terminationMessagePolicy: not('what a container says of its end is never read'),
  tty: same(false),
  volumeDevices: same(),
  volumeMounts: apart,
  workingDir: same(''),
} satisfies Rules<Container>;

/** securityContext of a container. */
export const SECURITY_FIELDS = {
  allowPrivilegeEscalation: same(),
  appArmorProfile: same({type: 'RuntimeDefault'}),
  capabilities: same(),
  privileged: same(false),
  procMount: same('Default'),
  readOnlyRootFilesystem: same(),
  runAsGroup: same(),
  runAsNonRoot: same(),
  runAsUser: same(),
  seLinuxOptions: members('user', 'role', 'type'),
  seccompProfile: same(),
  windowsOptions: same(),
} satisfies Rules<SecurityContext>;

/** One entry of volumeMounts. */
export const MOUNT_FIELDS = {
  mountPath: same(),
  mountPropagation: same('None'),
  name: same(),
  readOnly: same(false),
  recursiveReadOnly: asked,
  subPath: same(''),
  subPathExpr: same(''),
} satisfies Rules<VolumeMount>;
