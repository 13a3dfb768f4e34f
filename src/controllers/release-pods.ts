import type {ReleasePods} from '../domain/agent/isolation.ts';
import type {Endpoints} from './cluster-ip.ts';

/** Labels of the pods behind gateway and egress relay, as the chart sets them; its Services are called `<name>-<process>`. */
export function releasePods({namespace, gateway, egress}: Endpoints): ReleasePods {
  const labels = (endpoint: string, process: string) => ({
    'app.kubernetes.io/name': endpoint.endsWith(`-${process}`) ? endpoint.slice(0, -process.length - 1) : endpoint,
    'app.kubernetes.io/component': process,
  });
  return {namespace, gateway: labels(gateway, 'gateway'), egress: labels(egress, 'egress')};
}
