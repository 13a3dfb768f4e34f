import type {Breadth, Scope} from '../domain/access/groups.ts';
import type {Tool, ToolFace} from './tool.ts';

/** A tool as `tools/list` shows it. */
export interface ListedTool extends ToolFace {
  readonly name: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** The list of these tools, as broad as the scope has them. */
export type ListCache = (scope: Scope, tools: readonly Tool[]) => ListedTool[];

/** Tool lists are made once per scope: a scope is the same for all connections with equal tools. */
export function createListCache(): ListCache {
  const known = new Map<string, ListedTool[]>();
  return (scope, tools) => {
    const key = tools.map((t) => `${t.name}:${scope.tools.get(t.name)}`).join(',');
    const list = known.get(key) ?? tools.map((tool) => listed(tool, scope.tools.get(tool.name) ?? 'narrowed'));
    if (known.size < 256) known.set(key, list);
    return list;
  };
}

function listed(tool: Tool, breadth: Breadth): ListedTool {
  const readOnly = tool.effect === 'read';
  const annotations = {
    readOnlyHint: readOnly,
    destructiveHint: tool.effect === 'delete',
    idempotentHint: readOnly,
    openWorldHint: false,
  };
  return {name: tool.name, ...tool.describe(breadth), annotations};
}
