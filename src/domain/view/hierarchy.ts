import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {type FindSession, MAX_DEPTH, rootOf} from '../access/lineage.ts';

/** The spawn tree of a session: an edge means spawned, never "sent a message" (Z-059). */
export interface TreeNode {
  readonly session: SessionObject;
  readonly depth: number;
}

/** Sessions shown at most; the rest is counted. */
const MAX_NODES = 200;

/** Finds the children of a Session by its UID. */
export type FindChildren = (uid: string) => readonly SessionObject[];

/** The whole tree around a session, parents before children, oldest child first; `more` tells what was left out. */
export function treeOf(
  session: SessionObject,
  find: FindSession,
  children: FindChildren,
): {nodes: TreeNode[]; more: boolean} {
  const nodes: TreeNode[] = [];
  const seen = new Set<string>();
  const stack: TreeNode[] = [{session: rootOf(session, find), depth: 0}];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node.session.metadata.uid) || node.depth > MAX_DEPTH) continue;
    if (nodes.length >= MAX_NODES) return {nodes, more: true};
    seen.add(node.session.metadata.uid);
    nodes.push(node);
    const depth = node.depth + 1;
    const next = [...children(node.session.metadata.uid)].sort(newestFirst);
    stack.push(...next.map((child) => ({session: child, depth})));
  }
  return {nodes, more: false};
}

/** `### Session Hierarchy`: present always, also for a session alone. */
export function renderHierarchy(session: SessionObject, tree: {nodes: readonly TreeNode[]; more: boolean}): string {
  const lines = tree.nodes.map(({session: s, depth}) => {
    const here = s.metadata.uid === session.metadata.uid ? ' (this session)' : '';
    const title = s.spec.title === undefined ? '' : ` "${oneLine(s.spec.title)}"`;
    return `${'  '.repeat(depth)}- ${s.metadata.name}${title} [${s.status?.phase ?? 'Pending'}]${here}`;
  });
  if (tree.nodes.length === 1) lines.push('', 'No parent and no children.');
  if (tree.more) lines.push('', `Only the first ${MAX_NODES} sessions are shown.`);
  return ['### Session Hierarchy', '', ...lines].join('\n');
}

/** Text on one line, for headings and lists. */
export function oneLine(text: string, max = 200): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length <= max ? flat : `${flat.slice(0, max - 3)}...`;
}

function newestFirst(a: SessionObject, b: SessionObject): number {
  const [x, y] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return x === y ? (a.metadata.name < b.metadata.name ? 1 : -1) : x < y ? 1 : -1;
}
