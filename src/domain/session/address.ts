import {RUNNER_ENV} from '../../api/pod.ts';
import {cancelCommand, restartCommand} from './advice.ts';
import type {Life} from './life.ts';
import type {SessionSeen} from './seen.ts';

/** What decides about moves. */
type Told = Pick<SessionSeen, 'pod' | 'addresses' | 'settings'>;

/** One of the two has another address than the present pod was told. */
interface Move {
  which: 'gateway' | 'egress relay';
  service: string;
  from: string;
  to: string;
}

/** True when the gateway or the relay has another address than the present pod was told: it never looks a name up. */
export function moved(told: Told): boolean {
  return moves(told).length > 0;
}

/** What moved, and from where to where: `the gateway moved from 10.0.0.1 to 10.0.0.9`. */
export function movedText(told: Told): string {
  return moves(told).map(text).join(' and ');
}

/** Stands beside a turn that runs in a pod whose addresses moved. What helps depends on whether the Session closes. */
export function addressMoved(seen: SessionSeen, closes: boolean): NonNullable<Life['conditions']> {
  const all = moves(seen);
  if (all.length === 0) return [];
  const back = all.map((m) => `Service ${m.service} with spec.clusterIP ${m.from}`).join(' and ');
  const way = `in namespace ${seen.settings.services.namespace}, make anew ${back}`;
  const last = closes ? cancelCommand(seen.session) : restartCommand(seen.session);
  const message = all.some((m) => m.which === 'gateway')
    ? `${movedText(seen)}: the turn ends over a connection from before, or its end waits in the pod. If it does not end: ${way}. Only if that cannot be done (what the turn did is then unknown): ${last}`
    : `${movedText(seen)}: the turn goes on and ends, answers and interrupts reach it; only new connections to the model and to listed hosts fail for as long as it runs. To mend that at once: ${way}`;
  return [{type: 'AddressMoved', reason: 'AddressMoved', message}];
}

function moves({pod, addresses, settings}: Told): Move[] {
  if (pod.kind !== 'Present' || addresses === undefined) return [];
  const env = pod.pod.spec.initContainers?.flatMap((c) => c.env ?? []) ?? [];
  const {gateway, egress} = settings.services;
  const all = [
    {which: 'gateway', service: gateway, variable: RUNNER_ENV.gateway, to: addresses.gateway},
    {which: 'egress relay', service: egress, variable: RUNNER_ENV.egress, to: addresses.egress},
  ] as const;
  return all.flatMap(({which, service, variable, to}) => {
    const from = host(env.find((e) => e.name === variable)?.value ?? '');
    return from === to ? [] : [{which, service, from, to}];
  });
}

function text({which, from, to}: Move): string {
  return `the ${which} moved from ${from} to ${to}`;
}

/** Of `http://10.0.0.1:8080`, and of `[fd00::1]:8081` without its brackets. */
function host(address: string): string {
  return address
    .replace(/^http:\/\//, '')
    .replace(/:[0-9]+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}
