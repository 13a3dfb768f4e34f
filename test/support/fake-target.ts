/** What a path of the API server names. */
export interface Target {
  /** `sessions.carrel.dev`, `pods`. */
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Take a path of the API server apart; undefined when it is none. */
export function parseTarget(path: string): Target | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const root = parts.shift();
  const group = root === 'apis' ? parts.shift() : root === 'api' ? '' : undefined;
  if (group === undefined || parts.shift() === undefined) return undefined;
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts.splice(0, 2)[1] : undefined;
  const [plural, name, subresource] = parts;
  if (plural === undefined) return undefined;
  return {collection: group === '' ? plural : `${plural}.${group}`, namespace, name, subresource};
}
