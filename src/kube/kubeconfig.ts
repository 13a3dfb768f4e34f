import {readFileSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {parse} from 'yaml';
import type {Json} from '../api/json.ts';
import {type Connection, connectWith} from './connection.ts';
import {items, member, text} from './typed.ts';

/** Connect as the current context of a kubeconfig file says: client certificate or token, nothing else. For tests and tools. */
export function fromKubeconfig(path: string): Connection {
  const config: unknown = parse(readFileSync(path, 'utf8'));
  const context = named(config, 'contexts', text(config, 'current-context'), 'context');
  const cluster = named(config, 'clusters', text(context, 'cluster'), 'cluster');
  const user = named(config, 'users', text(context, 'user'), 'user');
  const folder = dirname(path);
  refuseUnsupported(path, cluster, ['insecure-skip-tls-verify', 'proxy-url', 'tls-server-name']);
  refuseUnsupported(path, user, ['exec', 'auth-provider', 'tokenFile', 'username', 'as']);
  const server = text(cluster, 'server');
  if (server === '') throw new Error(`${path}: clusters[].cluster.server is missing`);
  return connectWith(new URL(server), {
    ca: pem(cluster, 'certificate-authority', folder),
    cert: pem(user, 'client-certificate', folder),
    key: pem(user, 'client-key', folder),
    token: text(user, 'token') || undefined,
  });
}

/** Left out in silence, such a key would make its user anonymous, or trust a server that it should not. */
function refuseUnsupported(path: string, holder: Json, keys: readonly string[]): void {
  const found = keys.find((key) => holder[key] !== undefined && holder[key] !== false);
  if (found === undefined) return;
  const how = "use a client certificate or a token (kubectl create token), and the server's certificate-authority";
  throw new Error(`${path}: ${found} is not supported here; ${how}`);
}

function named(config: unknown, list: string, name: string, kind: string): Json {
  const found = items(config, list).find((entry) => text(entry, 'name') === name);
  if (found === undefined) throw new Error(`kubeconfig: ${list} has no entry named "${name}"`);
  return member(found, kind);
}

function pem(holder: Json, field: string, folder: string): string | undefined {
  const data = text(holder, `${field}-data`);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const file = text(holder, field);
  return file === '' ? undefined : readFileSync(resolve(folder, file), 'utf8');
}
