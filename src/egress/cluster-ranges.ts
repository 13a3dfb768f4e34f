import type {Node, ServiceCidr} from '../api/kube-core.ts';
import {parseRange, type Range} from '../domain/egress/address.ts';
import type {Cache} from '../kube/ports.ts';

/** The ranges of this cluster, or why they are not known. */
export type ClusterRanges =
  | {readonly known: true; readonly ranges: readonly Range[]}
  | {readonly known: false; readonly why: string};

/** Where they come from: what the operator says, and what nodes and ServiceCIDRs say. */
export interface RangeSources {
  /** Pod and Service ranges from the chart's values; they replace nothing, they are added. */
  readonly configured: readonly Range[];
  readonly nodes: Pick<Cache<Node>, 'synced' | 'list'>;
  readonly serviceCidrs: Pick<Cache<ServiceCidr>, 'synced' | 'list'>;
}

/**
 * Addresses of nodes, pods and Services. Unknown means not ready: without them the relay could reach the inside of the
 * cluster. What the operator configured stands in for what the API does not tell (pod ranges of some network plugins,
 * Service ranges before Kubernetes 1.33), never for the nodes.
 */
export function clusterRanges({configured, nodes, serviceCidrs}: RangeSources): ClusterRanges {
  if (!nodes.synced()) return unknown('nodes are not listed yet');
  const all = nodes.list();
  const services = serviceCidrs.synced() ? serviceCidrs.list().flatMap((c) => c.spec?.cidrs ?? []) : [];
  const hint = 'set egress.clusterCidrs to the pod and Service ranges';
  if (configured.length === 0 && services.length === 0) return unknown(`no ServiceCIDR is known; ${hint}`);
  const bare = all.find((node) => podCidrs(node).length === 0);
  if (configured.length === 0 && bare !== undefined)
    return unknown(`node ${bare.metadata.name} names no podCIDR; ${hint}`);
  const texts = [...services, ...all.flatMap((node) => [...podCidrs(node), ...addresses(node)])];
  return {known: true, ranges: [...configured, ...texts.flatMap((text) => parseRange(text) ?? [])]};
}

function podCidrs({spec}: Node): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
}

// Host names among them parse as no range and fall away.
function addresses({status}: Node): string[] {
  return (status?.addresses ?? []).map((entry) => entry.address);
}

function unknown(why: string): ClusterRanges {
  return {known: false, why};
}
