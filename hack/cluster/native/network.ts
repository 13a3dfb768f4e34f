import {existsSync} from 'node:fs';
import {rmdir} from 'node:fs/promises';
import {run, runAny} from '../command.ts';
import {type Layout, type NodeLayout, nodeLayout} from './layout.ts';

/*
 *   host                  crl0-net (switch)            crl0-cp, crl0-n1, crl0-n2 ...
 *   crl0 10.250.0.1 ===== host   br0   cp ============ eth0 10.250.0.2
 *                                      n1 ============ eth0 10.250.0.11   cni0 10.200.1.1/24: pods
 */

const ip = (...args: string[]) => run('ip', args);
const inside = (namespace: string, ...args: string[]) => run('ip', ['-n', namespace, ...args]);

/** Whether a network namespace of this name exists. */
function hasNamespace(namespace: string): boolean {
  return existsSync(`/run/netns/${namespace}`);
}

/** Claims a slot by making the host's link, which only one caller can; says whether it did. */
export async function claimSlot(prefix: string): Promise<boolean> {
  return (await runAny('ip', ['link', 'add', prefix, 'type', 'veth', 'peer', 'name', `${prefix}peer`])).code === 0;
}

/** Makes the switch and the host's way into it, unless they are there. */
export async function ensureSwitch(layout: Layout): Promise<void> {
  const {switchNamespace, prefix} = layout;
  if (hasNamespace(switchNamespace)) {
    // Its last step tells whether all were taken: an `up` that was killed may have left a half of it.
    const {stdout} = await runAny('ip', ['-o', '-4', 'addr', 'show', 'dev', prefix, 'up']);
    if (stdout.includes(` ${layout.host}/`)) return;
    await ip('netns', 'del', switchNamespace);
  }
  await runAny('ip', ['link', 'del', prefix]); // half a cable of a claim or a crash
  await ip('netns', 'add', switchNamespace);
  await inside(switchNamespace, 'link', 'add', 'br0', 'type', 'bridge');
  await inside(switchNamespace, 'link', 'set', 'br0', 'up');
  // Bridged frames must not pass iptables here: policies are the nodes' work. The file exists only with br_netfilter.
  await run('nsenter', [`--net=/run/netns/${switchNamespace}`, 'sh', '-c', NO_BRIDGE_FILTER]);
  await ip('link', 'add', prefix, 'type', 'veth', 'peer', 'name', 'host', 'netns', switchNamespace);
  await inside(switchNamespace, 'link', 'set', 'host', 'master', 'br0', 'up');
  await ip('addr', 'add', `${layout.host}/24`, 'dev', prefix);
  await ip('link', 'set', prefix, 'up');
}

const NO_BRIDGE_FILTER = 'for f in /proc/sys/net/bridge/bridge-nf-call-*; do [ -e "$f" ] && echo 0 >"$f"; done; exit 0';

// A node that was just switched on has no bridge yet: it would send packets for its pods back to the host, and tell the
// sender to ask the host from now on. The sender keeps that for minutes, and those pods cannot be answered.
const NO_REDIRECTS =
  'for way in accept send; do for of in all default eth0; do echo 0 >/proc/sys/net/ipv4/conf/$of/${way}_redirects; done; done';

async function attach(layout: Layout, end: {namespace: string; address: string; port: string}): Promise<void> {
  const {namespace, address, port} = end;
  await detach(layout, end);
  await ip('netns', 'add', namespace);
  await inside(layout.switchNamespace, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  await inside(layout.switchNamespace, 'link', 'set', port, 'master', 'br0', 'up');
  await inside(namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  await inside(namespace, 'link', 'set', 'eth0', 'up');
  await inside(namespace, 'link', 'set', 'lo', 'up');
  await run('nsenter', [`--net=/run/netns/${namespace}`, 'sh', '-c', NO_REDIRECTS]);
  await inside(namespace, 'route', 'add', 'default', 'via', layout.host);
}

/** Takes a node's network away. */
export async function removeNodeNetwork(layout: Layout, node: NodeLayout): Promise<void> {
  await detach(layout, node);
}

async function detach(layout: Layout, end: {namespace: string; port: string}): Promise<void> {
  if (hasNamespace(end.namespace)) await ip('netns', 'del', end.namespace);
  await runAny('ip', ['-n', layout.switchNamespace, 'link', 'del', end.port]); // gone with the namespace, but not at once
}

/** Connects the control plane, with routes to the pods of every node. */
export async function ensureControlPlaneNetwork(layout: Layout, nodes: number): Promise<void> {
  const {namespace} = layout.controlPlane;
  // The default route is the last step, and an `up` that was killed may have left a half.
  const whole =
    hasNamespace(namespace) && (await runAny('ip', ['-n', namespace, 'route', 'show', 'default'])).stdout.trim() !== '';
  if (!whole) await attach(layout, layout.controlPlane);
  await routeToPods(layout, namespace, nodes);
}

/** Gives a node a fresh network, as a machine has after it was switched on, and tells all others the way to its pods. */
export async function renewNodeNetwork(layout: Layout, node: NodeLayout, nodes: number): Promise<void> {
  await attach(layout, node);
  await routeToPods(layout, node.namespace, nodes, node.index);
  const way = ['route', 'replace', node.pods, 'via', node.address];
  await ip(...way);
  for (let i = 1; i <= nodes; i++) {
    const other = nodeLayout(layout, i);
    if (i !== node.index && hasNamespace(other.namespace)) await inside(other.namespace, ...way);
  }
}

async function routeToPods(layout: Layout, namespace: string, nodes: number, self = 0): Promise<void> {
  for (let i = 1; i <= nodes; i++) {
    const node = nodeLayout(layout, i);
    if (i !== self) await inside(namespace, 'route', 'replace', node.pods, 'via', node.address);
  }
}

/** Cuts or mends the node's cable. The switch's side is used: taken down inside, the node would lose its routes. */
export async function setNodeLink(layout: Layout, node: NodeLayout, state: 'up' | 'down'): Promise<void> {
  await inside(layout.switchNamespace, 'link', 'set', node.port, state);
}

/** Whether the node's cable is cut. */
export async function isPartitioned(layout: Layout, node: NodeLayout): Promise<boolean> {
  const {stdout} = await runAny('ip', ['-n', layout.switchNamespace, '-o', 'link', 'show', node.port]);
  return stdout !== '' && !/<[^>]*\bUP\b/.test(stdout);
}

/** Removes every network object of a slot, and the mount that `ip netns` made when nobody else uses it. */
export async function removeNetwork(prefix: string): Promise<void> {
  for (const namespace of await namespacesOf(prefix)) await runAny('ip', ['netns', 'del', namespace]);
  await runAny('ip', ['link', 'del', prefix]);
  const {stdout} = await runAny('ip', ['netns', 'list']);
  if (stdout.trim() !== '') return;
  if ((await runAny('umount', ['/run/netns'])).code === 0) await rmdir('/run/netns').catch(() => {});
}

/** The network namespaces of a slot. */
export async function namespacesOf(prefix: string): Promise<string[]> {
  const {stdout} = await runAny('ip', ['netns', 'list']);
  return stdout
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => name.startsWith(`${prefix}-`));
}
