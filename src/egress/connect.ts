import {connect, type Socket} from 'node:net';
import {EgressRefusal} from './refusal.ts';

/** Connect to the first of these addresses that answers; all together at most `timeoutMs`. Rejects with EgressRefusal. */
export async function connectFirst(
  addresses: readonly string[],
  port: number,
  {timeoutMs, signal}: {timeoutMs: number; signal: AbortSignal},
): Promise<{socket: Socket; address: string}> {
  const until = performance.now() + timeoutMs;
  let problem = 'no address';
  for (const [index, address] of addresses.entries()) {
    // Each gets its share of the time that is left, so that a silent one does not eat up the time of the others.
    const share = (until - performance.now()) / (addresses.length - index);
    const result = await connectTo(address, port, {timeoutMs: Math.max(1, share), signal});
    if (typeof result !== 'string') return {socket: result, address};
    problem = `${address}: ${result}`;
    if (signal.aborted) break;
  }
  throw new EgressRefusal('connect_failed', `no connection to port ${port} of ${problem}`);
}

function connectTo(
  host: string,
  port: number,
  limits: {timeoutMs: number; signal: AbortSignal},
): Promise<Socket | string> {
  return new Promise((resolve) => {
    if (limits.signal.aborted) return resolve('the caller went away');
    const socket = connect({host, port, allowHalfOpen: true, noDelay: true});
    const settle = (result: Socket | string) => {
      clearTimeout(timer);
      limits.signal.removeEventListener('abort', abort);
      socket.removeAllListeners();
      if (typeof result === 'string') socket.on('error', () => undefined).destroy();
      resolve(result);
    };
    const abort = () => settle('the caller went away');
    const timer = setTimeout(() => settle(`no answer within ${Math.round(limits.timeoutMs)} ms`), limits.timeoutMs);
    limits.signal.addEventListener('abort', abort, {once: true});
    socket.once('connect', () => settle(socket));
    socket.once('error', (error) => settle(error.message));
  });
}
