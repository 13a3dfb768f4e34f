import {parseAddress} from '../domain/egress/address.ts';
import {type Ceiling, judgeAddress} from '../domain/egress/ceiling.ts';
import {judgeTarget, type Purpose} from '../domain/egress/rules.ts';
import type {Target} from '../domain/egress/target.ts';
import type {Grant} from './grant.ts';
import {EgressRefusal} from './refusal.ts';
import type {Resolve} from './resolve.ts';

/** Addresses that may be connected to for this target, in the order in which they are tried. Rejects with EgressRefusal. */
export async function routeTo(
  {grant, purpose, target}: {grant: Grant; purpose: Purpose; target: Target},
  {resolve, ceiling}: {resolve: Resolve; ceiling: Ceiling},
): Promise<readonly string[]> {
  const verdict = judgeTarget(grant.spec, purpose, target);
  if (!verdict.allowed) throw new EgressRefusal('host_not_allowed', verdict.message);
  // Only a name that is allowed is ever asked for: names could carry data out.
  const found = target.address === undefined ? await resolve(target.host) : [target.host];
  let refused = '';
  const allowed = found.filter((text) => {
    const address = parseAddress(text);
    if (address === undefined) return false;
    const judged = judgeAddress(address, target.port, ceiling);
    if (!judged.allowed) refused ||= `${target.host}:${target.port} resolves to ${text}: ${judged.message}`;
    return judged.allowed;
  });
  if (allowed.length === 0)
    throw new EgressRefusal('address_not_allowed', refused || `${target.host} has no usable address`);
  return allowed;
}
