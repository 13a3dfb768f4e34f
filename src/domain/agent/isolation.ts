import type {NetworkPolicy, ServiceAccount} from '../../api/kube-core.ts';
import type {Manifest} from '../../api/kube-object.ts';
import {LABEL_AGENT, LABEL_AGENT_UID, LABEL_MANAGED_BY, MANAGED_BY, POD_PREFIX, uid8} from '../../api/meta.ts';
import {PORT} from '../../api/pod.ts';

/** The Agent that shared objects belong to; they are owned by nobody and swept when no pod of it is left. */
export interface AgentIdentity {
  name: string;
  uid: string;
  namespace: string;
}

/** Name of the Agent's ServiceAccount and NetworkPolicy. */
export function sharedName(agent: {name: string; uid: string}): string {
  return `${POD_PREFIX}${agent.name}-${uid8(agent.uid)}`;
}

const labels = (agent: AgentIdentity) => ({
  [LABEL_MANAGED_BY]: MANAGED_BY,
  [LABEL_AGENT]: agent.name,
  [LABEL_AGENT_UID]: agent.uid,
});

/** ServiceAccount of the Agent's pods: no rights at all, it only gives the projected tokens a name. */
export function buildServiceAccount(agent: AgentIdentity): Manifest<ServiceAccount> {
  return {
    metadata: {name: sharedName(agent), namespace: agent.namespace, labels: labels(agent)},
    automountServiceAccountToken: false,
  };
}

/** Labels of the pods behind the gateway and the egress relay, in the release's namespace. */
export interface ReleasePods {
  namespace: string;
  gateway: Readonly<Record<string, string>>;
  egress: Readonly<Record<string, string>>;
}

/**
 * Default deny both ways; out only to gateway and egress. Ports are target ports, because policies match after Service
 * translation. The canary ports are left out on purpose: an agent starts only once they are refused.
 */
export function buildNetworkPolicy(agent: AgentIdentity, release: ReleasePods): Manifest<NetworkPolicy> {
  const to = (podLabels: Readonly<Record<string, string>>, port: number) => ({
    to: [
      {
        namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': release.namespace}},
        podSelector: {matchLabels: podLabels},
      },
    ],
    ports: [{protocol: 'TCP', port}],
  });
  return {
    metadata: {name: sharedName(agent), namespace: agent.namespace, labels: labels(agent)},
    spec: {
      podSelector: {matchLabels: {[LABEL_AGENT_UID]: agent.uid}},
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [to(release.gateway, PORT.gateway), to(release.egress, PORT.egress)],
    },
  };
}
