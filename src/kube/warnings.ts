import type {IncomingHttpHeaders} from 'node:http';
import type {Log} from './ports.ts';

/** Who is told of warnings; default the log. */
export interface WarningListener {
  readonly log: Log;
  readonly onWarning?: ((warning: string, call: string) => void) | undefined;
}

/** `299 - "unknown field \"spec.bogus\""`: dropped fields and deprecations reach nobody otherwise. */
export function tellWarnings(to: WarningListener, call: string, headers: IncomingHttpHeaders): void {
  const header = headers['warning'];
  if (header === undefined) return;
  for (const warning of Array.isArray(header) ? header : [header]) {
    if (to.onWarning === undefined) to.log.warn({call, warning}, 'api server warning');
    else to.onWarning(warning, call);
  }
}
