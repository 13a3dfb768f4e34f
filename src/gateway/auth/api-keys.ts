import {hash, timingSafeEqual} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {z} from 'zod';
import type {Clock} from '../../kube/clock.ts';
import type {Log} from '../../kube/ports.ts';

/** The file: name of the key -> digest of the key, and the service account that it acts as. */
const KeyFile = z.record(
  z.string().max(128),
  z.object({
    sha256: z.string().regex(/^[a-f0-9]{64}$/),
    serviceAccount: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
  }),
);

/** A key that was accepted. */
export interface ApiKey {
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Undefined: no such key. */
export type FindApiKey = (presented: string) => Promise<ApiKey | undefined>;

/** How often the file is looked at. */
const LOOK_MS = 1_000;

interface Entry extends ApiKey {
  readonly digest: Buffer;
}

/**
 * Keys from a mounted file of digests, read again when it changes. A file that does not parse leaves the last good keys;
 * a file that is gone means no keys.
 */
export function createApiKeys({path, clock, log}: {path: string | undefined; clock: Clock; log: Log}): FindApiKey {
  let entries: readonly Entry[] = [];
  let version = '';
  let next = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  const refresh = async (file: string): Promise<void> => {
    const seen = await stat(file).then(
      (s) => `${s.ino}/${s.mtimeMs}/${s.size}`,
      () => 'absent',
    );
    if (seen === version) return;
    version = seen;
    if (seen === 'absent') entries = [];
    else entries = parseKeys(await readFile(file, 'utf8'), log) ?? entries;
  };
  return async (presented) => {
    if (path === undefined) return undefined;
    if (clock.monotonic() >= next) {
      next = clock.monotonic() + LOOK_MS;
      looking = refresh(path).finally(() => {
        looking = undefined;
      });
    }
    // Who comes while the file is read waits too: else the first requests of a new process would meet no key at all.
    await looking;
    return matchKey(entries, presented);
  };
}

/** Compare with every entry, always all of them, in constant time. */
function matchKey(entries: readonly Entry[], presented: string): ApiKey | undefined {
  const digest = hash('sha256', presented, 'buffer');
  let found: Entry | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
  return found && {name: found.name, namespace: found.namespace, serviceAccount: found.serviceAccount};
}

function parseKeys(text: string, log: Log): Entry[] | undefined {
  const parsed = KeyFile.safeParse(jsonOf(text));
  if (!parsed.success) {
    log.error({problem: z.prettifyError(parsed.error)}, 'API key file is not valid; the last good keys stay');
    return undefined;
  }
  return Object.entries(parsed.data).map(([name, {sha256, serviceAccount}]) => {
    const [namespace = '', account = ''] = serviceAccount.split('/');
    return {name, namespace, serviceAccount: account, digest: Buffer.from(sha256, 'hex')};
  });
}

function jsonOf(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
