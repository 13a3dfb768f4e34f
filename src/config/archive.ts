import {z} from 'zod';
import {PORT} from '../api/pod.ts';
import {seconds} from '../domain/duration.ts';
import {commaList, commonVariables, kubernetesAccess, port, readEnvironment} from './environment.ts';

const Variables = z.object({
  ...commonVariables,
  /** Folder of the archive's file, on its volume. */
  CARREL_ARCHIVE_DATA: z.string().min(1).default('/data'),
  /** User names that may call: gateway and controller, `system:serviceaccount:<namespace>:<name>`, between commas. */
  CARREL_ARCHIVE_CALLERS: commaList.refine((list) => list.length > 0, 'name at least one user that may call'),
  /** How long a transcript is kept after its Session is gone, such as `90d`; `forever` deletes nothing. */
  CARREL_ARCHIVE_RETENTION: z
    .string()
    .regex(/^(forever|[1-9][0-9]{0,4}[hd])$/, 'write hours or days, such as 90d, or forever')
    .default('90d'),
  CARREL_ARCHIVE_PORT: port.default(PORT.archive),
  CARREL_HEALTH_PORT: port.default(PORT.health),
});

/** Reads and checks the environment of the archive. */
export function readArchiveConfig(env: NodeJS.ProcessEnv = process.env) {
  const v = readEnvironment(Variables, env);
  return Object.freeze({
    logLevel: v.CARREL_LOG_LEVEL,
    kubernetes: kubernetesAccess(v),
    data: v.CARREL_ARCHIVE_DATA,
    callers: v.CARREL_ARCHIVE_CALLERS,
    /** Undefined: for ever. */
    keepMs: v.CARREL_ARCHIVE_RETENTION === 'forever' ? undefined : seconds(v.CARREL_ARCHIVE_RETENTION) * 1_000,
    port: v.CARREL_ARCHIVE_PORT,
    healthPort: v.CARREL_HEALTH_PORT,
  });
}
