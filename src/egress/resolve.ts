import {Resolver} from 'node:dns/promises';
import {EgressRefusal} from './refusal.ts';

/** All addresses of a name, both families; rejects with EgressRefusal. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** How names are resolved. */
export interface ResolveOptions {
  /** Put behind names that end with `.svc`: no search list is used, so that a name means the same everywhere. */
  readonly clusterDomain: string;
  /** `address:port` of name servers instead of the pod's; for tests. */
  readonly servers?: readonly string[];
}

/** Ask the pod's name servers directly: hosts file and search list, which could give a name another meaning, play no part. */
export function createResolve(options: ResolveOptions): Resolve {
  const resolver = new Resolver({timeout: 2_000, tries: 2});
  if (options.servers !== undefined) resolver.setServers(options.servers);
  return async (host) => {
    const name = host.endsWith('.svc') ? `${host}.${options.clusterDomain}` : host;
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const cause = four.status === 'rejected' ? four.reason : undefined;
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no address';
    throw new EgressRefusal('name_not_found', `${host} could not be resolved: ${why}`, {cause});
  };
}
