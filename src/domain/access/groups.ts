/** Tool groups: which tools a connection sees. A credential allows groups; the URL can narrow them, never widen. */

/** Groups that a tool belongs to. */
export const BASE_GROUPS = ['sessions', 'notifications', 'triggers', 'health', 'ask'] as const;
export type BaseGroup = (typeof BASE_GROUPS)[number];

/** Groups that borrow tools from base groups, some of them narrowed. */
export const COMPOSITE_GROUPS = ['self_session'] as const;
export type CompositeGroup = (typeof COMPOSITE_GROUPS)[number];

/** What people and API keys get when the URL names no group. */
export const DEFAULT_GROUPS: readonly string[] = ['sessions', 'notifications', 'triggers', 'health'];

/** What a tool does to the world; safety hints follow from it. */
export type Effect = 'read' | 'create' | 'update' | 'delete';

/** The facts of a tool that grouping needs. */
export interface Grouped {
  readonly name: string;
  readonly group: BaseGroup;
  readonly effect: Effect;
  /** Composite groups in which it appears as well; `narrowed` = with its narrower input. */
  readonly composites: Readonly<Partial<Record<CompositeGroup, 'whole' | 'narrowed'>>>;
}

/** How a tool is offered. */
export type Breadth = 'whole' | 'narrowed';

/** The tools of a connection, by name; equal scopes have equal keys. */
export interface Scope {
  readonly tools: ReadonlyMap<string, Breadth>;
  readonly key: string;
}

/** `a,b , c` as sent in `tool_groups`; undefined when the parameter is absent. */
export function parseGroups(parameter: string | null): string[] | undefined {
  if (parameter === null) return undefined;
  return parameter
    .split(',')
    .map((g) => g.trim())
    .filter((g) => g !== '');
}

/** Names that mean nothing: dropped with a warning, the connection does not fail (Z-026). */
export function unknownGroups(groups: readonly string[]): string[] {
  return groups.filter((g) => selectorOf(g) === undefined);
}

/** The tools that these groups give; unknown names give nothing. */
export function expandGroups(groups: readonly string[], tools: readonly Grouped[]): Scope {
  const found = new Map<string, Breadth>();
  for (const group of groups) {
    const select = selectorOf(group);
    if (select === undefined) continue;
    for (const tool of tools) {
      const breadth = select(tool);
      if (breadth !== undefined && found.get(tool.name) !== 'whole') found.set(tool.name, breadth);
    }
  }
  return scopeOf(found);
}

/** What both scopes allow; a tool that one of them narrows is narrowed. */
export function intersect(a: Scope, b: Scope): Scope {
  const found = new Map<string, Breadth>();
  for (const [name, breadth] of a.tools) {
    const other = b.tools.get(name);
    if (other !== undefined) found.set(name, breadth === 'narrowed' ? breadth : other);
  }
  return scopeOf(found);
}

function scopeOf(found: ReadonlyMap<string, Breadth>): Scope {
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return {tools: new Map(sorted), key: sorted.map(([name, breadth]) => `${name}:${breadth}`).join(',')};
}

function selectorOf(group: string): ((tool: Grouped) => Breadth | undefined) | undefined {
  const composite = COMPOSITE_GROUPS.find((c) => c === group);
  if (composite !== undefined) return (tool) => tool.composites[composite];
  const readonly = group.endsWith('_readonly');
  const base = BASE_GROUPS.find((b) => b === (readonly ? group.slice(0, -'_readonly'.length) : group));
  if (base === undefined) return undefined;
  return (tool) => (tool.group === base && (!readonly || tool.effect === 'read') ? 'whole' : undefined);
}
