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
const SHARE = {session: 1 / 40, user: 1 / 8, namespace: 1 / 2} as const;

/** Take a place; throws `busy` when there is none. */
export function createSlots(places: number): () => Slot {
  const held = new Map<string, number>();
  let taken = 0;
  const most = (share: number) => Math.max(1, Math.floor(places * share));
  return () => {
    if (taken >= places) throw new Refusal('busy', 'Too many requests; try again in a second.');
    taken += 1;
    const names: string[] = [];
    const claim = (name: string, share: number, who: string): void => {
      const now = held.get(name) ?? 0;
      if (now >= most(share))
        throw new Refusal(
          'too_many_requests',
          `${who} has ${now} requests in flight, and no more are taken from it; wait until some have ended.`,
        );
      held.set(name, now + 1);
      names.push(name);
    };
    return {
      claim(caller, namespace) {
        const share = caller.kind === 'session' ? SHARE.session : SHARE.user;
        claim(`caller ${principalOf(caller)}`, share, principalOf(caller));
        claim(`namespace ${namespace}`, SHARE.namespace, `Namespace "${namespace}"`);
      },
      leave() {
        taken -= 1;
        for (const name of names) {
          const left = (held.get(name) ?? 1) - 1;
          if (left === 0) held.delete(name);
          else held.set(name, left);
        }
      },
    };
  };
}
