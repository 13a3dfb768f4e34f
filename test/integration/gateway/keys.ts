import {createHash, randomUUID} from 'node:crypto';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {type Place, type Release, until} from '../../support/release.ts';
import {Client, type Door, rpc, send} from './door.ts';

/** Secret that the chart mounts into the gateways. */
const SECRET = 'carrel-api-keys';

/** A key of its own for each service account, by the name of the account. */
export interface Keys {
  of(account: string): string;
  client(account: string, path?: string): Client;
  remove(): Promise<void>;
}

/**
 * Gives the gateways API keys for these service accounts and waits until both take them. A kubelet looks at a mounted Secret
 * about once in a minute; a change of the pod makes it look at once.
 */
export async function giveKeys(place: Place, doors: readonly Door[], accounts: readonly string[]): Promise<Keys> {
  const {release, namespace} = place;
  const keys = new Map(accounts.map((name) => [name, randomUUID()]));
  const entries = [...keys].map(([name, key]) => [
    `${namespace}-${name}`,
    {sha256: createHash('sha256').update(key).digest('hex'), serviceAccount: `${namespace}/${name}`},
  ]);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: SECRET},
    stringData: {'keys.json': JSON.stringify(Object.fromEntries(entries))},
  };
  await release.kubectl(['-n', RELEASE_NAMESPACE, 'apply', '-f', '-'], JSON.stringify(secret));
  await touch(release, doors);
  const of = (account: string) => keys.get(account) ?? '';
  const client = (account: string, path?: string) => new Client({'X-API-Key': of(account)}, path);
  await until(180_000, async () => {
    for (const door of doors) {
      const reply = await send(`${door.url}/mcp`, {
        headers: client(accounts[0] ?? '').headers,
        body: rpc('tools/list'),
      });
      if (reply.status !== 200) throw new Error(`${door.pod} does not know the key yet: ${reply.status} ${reply.text}`);
    }
  });
  const remove = async () => {
    await release.kubectl(['-n', RELEASE_NAMESPACE, 'delete', 'secret', SECRET, '--ignore-not-found']);
    await touch(release, doors);
  };
  return {of, client, remove};
}

async function touch(release: Release, doors: readonly Door[]): Promise<void> {
  const pods = doors.map((d) => `pod/${d.pod}`);
  const stamp = `carrel-test/keys-changed=${Date.now()}`;
  await release.kubectl(['-n', RELEASE_NAMESPACE, 'annotate', '--overwrite', ...pods, stamp]);
}
