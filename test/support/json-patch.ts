import {isDeepStrictEqual} from 'node:util';
import {isJson, type Json} from '../../src/api/json.ts';

/** RFC 7396. */
export function mergeJson(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const result: Record<string, unknown> = isJson(target) ? {...target} : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergeJson(result[name], value);
  }
  return result;
}

/** RFC 6902 add, replace, remove, copy, test, with the API server's leniencies: null matches a missing leaf, replace adds one. Undefined = refused. */
export function applyJsonPatch(target: Json, patch: unknown): unknown {
  if (!Array.isArray(patch)) return undefined;
  let current: unknown = structuredClone(target);
  for (const op of patch) {
    if (!isJson(op) || typeof op['path'] !== 'string') return undefined;
    const steps = stepsOf(op['path']);
    const leaf = steps.pop();
    const parent = at(current, steps);
    const copied = op['op'] === 'copy' ? at(current, stepsOf(String(op['from']))) : undefined;
    if (op['op'] === 'copy' && copied === undefined) return undefined;
    if (leaf === undefined || !applyOne(parent, leaf, copied === undefined ? op : {op: 'add', value: copied}))
      return undefined;
    current = structuredClone(current);
  }
  return current;
}

function stepsOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function at(target: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (within, step) => (Array.isArray(within) ? within[Number(step)] : isJson(within) ? within[step] : undefined),
    target,
  );
}

function applyOne(parent: unknown, leaf: string, op: Json): boolean {
  const value = op['value'];
  if (Array.isArray(parent)) {
    const at = leaf === '-' ? parent.length : Number(leaf);
    if (op['op'] === 'test') return isDeepStrictEqual(parent[at], value);
    if (op['op'] === 'add') parent.splice(at, 0, value);
    else if (op['op'] === 'replace') parent[at] = value;
    else parent.splice(at, 1);
    return true;
  }
  if (!isJson(parent)) return false;
  if (op['op'] === 'test') return isDeepStrictEqual(parent[leaf] ?? null, value);
  if (op['op'] === 'remove') return leaf in parent && Reflect.deleteProperty(parent, leaf);
  return Reflect.set(parent, leaf, value);
}
