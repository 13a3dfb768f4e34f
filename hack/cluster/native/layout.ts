import {join} from 'node:path';

/** Every name, address and path of one native cluster. All kernel objects start with `crl<slot>`, so two clusters never meet. */
export type Layout = {
  name: string;
  slot: number;
  prefix: string;
  folder: string;
  logs: string;
  pki: string;
  pids: string;
  kubeconfig: string;
  auditLog: string;
  registry: string;
  networks: {nodes: string; pods: string; services: string};
  /** The host's end of the cluster network. */
  host: string;
  /** The network namespace that holds the bridge: traffic between nodes never passes the host's firewall. */
  switchNamespace: string;
  controlPlane: {namespace: string; address: string; apiServer: string; port: string};
  dnsAddress: string;
  apiServiceAddress: string;
};

/** The same for one node of it. */
export type NodeLayout = {
  name: string;
  index: number;
  namespace: string;
  address: string;
  pods: string;
  folder: string;
  cgroup: string;
  /** The switch's side of the node's cable: taking it down is a partition. */
  port: string;
};

/** How many clusters fit side by side: 10.250 to 10.255 are the node networks. */
export const SLOTS = 6;
/** The largest number of nodes, bounded by the address plan. */
export const MAX_NODES = 40;

/** Derives everything from the state folder, the name and the slot. */
export function layoutOf(state: string, name: string, slot: number): Layout {
  const folder = join(state, name);
  const net = `10.${250 + slot}.0`;
  const prefix = `crl${slot}`;
  const address = `${net}.2`;
  return {
    name,
    slot,
    prefix,
    folder,
    logs: join(folder, 'log'),
    pki: join(folder, 'pki'),
    pids: join(folder, 'pid'),
    kubeconfig: join(folder, 'kubeconfig'),
    auditLog: join(folder, 'audit', 'audit.log'),
    registry: `${address}:5000`,
    networks: {nodes: `${net}.0/24`, pods: `10.${200 + slot}.0.0/16`, services: `10.${100 + slot}.0.0/16`},
    host: `${net}.1`,
    switchNamespace: `${prefix}-net`,
    controlPlane: {namespace: `${prefix}-cp`, address, apiServer: `https://${address}:6443`, port: 'cp'},
    dnsAddress: `10.${100 + slot}.0.10`,
    apiServiceAddress: `10.${100 + slot}.0.1`,
  };
}

/** Derives one node; indexes start at 1. */
export function nodeLayout(layout: Layout, index: number): NodeLayout {
  const name = `n${index}`;
  return {
    name,
    index,
    namespace: `${layout.prefix}-${name}`,
    address: `10.${250 + layout.slot}.0.${10 + index}`,
    pods: `10.${200 + layout.slot}.${index}.0/24`,
    folder: join(layout.folder, 'nodes', name),
    cgroup: `${layout.prefix}-${name}`,
    port: name,
  };
}
