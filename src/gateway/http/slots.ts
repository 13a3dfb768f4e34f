import type {Caller} from '../../domain/access/caller.ts';
import {principalOf} from '../../domain/access/caller.ts';
import {Refusal} from '../../domain/refusal.ts';

/** A place among the requests that are worked on. */
export interface Slot {
  /** Once it is known who asks: count the request against the shares of that caller and namespace; throws a Refusal. */
  claim(caller: Caller, namespace: string): void;
  leave(): void;
}

/** Parts of all places that one of a kind may hold: nobody alone can take what the others need. */
const SHARE = {session: 1 / 40, user: 1 / 8, namespace: 1 / 2, unknown: 1 / 10} as const;

/**
 * Take a place for a request from an address; throws a Refusal when there is none. Until it is known who asks, it counts
 * against the address: whoever sends made-up tokens has each of them reviewed, and is to hold no more than a part meanwhile.
 */
export function createSlots(places: number): (address: string) => Slot {
  const held = new Map<string, number>();
  let taken = 0;
  const most = (share: number) => Math.max(1, Math.floor(places * share));
  const release = (name: string): void => {
    const left = (held.get(name) ?? 1) - 1;
    if (left === 0) held.delete(name);
    else held.set(name, left);
  };
  return (address) => {
    if (taken >= places) throw new Refusal('busy', 'Too many requests; try again in a second.');
    const names = new Set<string>();
    const claim = (name: string, share: number, who: string): void => {
      const now = held.get(name) ?? 0;
      if (now >= most(share))
        throw new Refusal(
          'too_many_requests',
          `${who} has ${now} requests in flight, and no more are taken from it; wait until some have ended.`,
        );
      held.set(name, now + 1);
      names.add(name);
    };
    const stranger = `address ${address}`;
    claim(stranger, SHARE.unknown, `Address ${address}, with credentials that are not known yet,`);
    taken += 1;
    return {
      claim(caller, namespace) {
        release(stranger);
        names.delete(stranger);
        const share = caller.kind === 'session' ? SHARE.session : SHARE.user;
        claim(`caller ${principalOf(caller)}`, share, principalOf(caller));
        claim(`namespace ${namespace}`, SHARE.namespace, `Namespace "${namespace}"`);
      },
      leave() {
        taken -= 1;
        for (const name of names) release(name);
      },
    };
  };
}
