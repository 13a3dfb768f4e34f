import {connect} from 'node:net';
import type {CheckIsolation, Endpoint} from './ports.ts';

/**
 * Asks whether the network policy has taken hold. A refusal and a timeout of the canary both mean closed, but only next
 * to an allowed port that answers: where nobody listens a port looks the same as where a policy stands.
 */
export const checkIsolation: CheckIsolation = async ({allowed, canary, timeoutMs}) => {
  // Both at once, because a dropped packet uses up the whole time.
  const [allowedOpen, canaryOpen] = await Promise.all([opens(allowed, timeoutMs), opens(canary, timeoutMs)]);
  if (canaryOpen) return 'open';
  return allowedOpen ? 'closed' : 'unreachable';
};

async function opens({host, port}: Endpoint, timeoutMs: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({host, port});
    const end = (open: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(open);
    };
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
