import {describe, expect, it} from 'vitest';
import type {Node, ServiceCidr} from '../api/kube-core.ts';
import {parseRange} from '../domain/egress/address.ts';
import {clusterRanges} from './cluster-ranges.ts';

const metadata = {name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z'};
const node = (podCIDR?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {...metadata, name: 'n1'},
  spec: {podCIDR},
  status: {
    addresses: [
      {type: 'InternalIP', address: '34.1.2.3'},
      {type: 'Hostname', address: 'n1'},
    ],
  },
});
const services: ServiceCidr = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata,
  spec: {cidrs: ['10.96.0.0/16', 'fd00:1::/108']},
};
const listed = <T>(...objects: T[]) => ({synced: () => true, list: () => objects});
const missing = {synced: () => false, list: () => []};
const configured = [parseRange('10.244.0.0/16')].flatMap((r) => r ?? []);

describe('the ranges of the cluster', () => {
  it('are those of nodes, their pods and Services', () => {
    const result = clusterRanges({
      configured: [],
      nodes: listed(node('10.244.1.0/24')),
      serviceCidrs: listed(services),
    });
    const expected = ['10.96.0.0/16', 'fd00:1::/108', '10.244.1.0/24', '34.1.2.3/32'].map(parseRange);
    expect(result).toEqual({known: true, ranges: expected});
  });

  const rows = [
    {state: 'nodes are not listed', seen: {nodes: missing, serviceCidrs: listed(services), configured}, known: false},
    {
      state: 'Service ranges are missing',
      seen: {nodes: listed(node('10.244.1.0/24')), serviceCidrs: missing, configured: []},
      known: false,
    },
    {
      state: 'a node names no pod range',
      seen: {nodes: listed(node()), serviceCidrs: listed(services), configured: []},
      known: false,
    },
    {
      state: 'the operator names what the API does not',
      seen: {nodes: listed(node()), serviceCidrs: missing, configured},
      known: true,
    },
  ];
  for (const {state, seen, known} of rows) {
    it(`are ${known ? '' : 'not '}known when ${state}`, () => expect(clusterRanges(seen).known).toBe(known));
  }
});
