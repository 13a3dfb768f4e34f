import {readFileSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {parse} from 'yaml';
import {type Connection, connectWith} from './connection.ts';
import {items, type Json, member, text} from './typed.ts';

/** Connect as the current context of a kubeconfig file says: client certificate or token; no exec plugins. For tests and tools. */
export function fromKubeconfig(path: string): Connection {
  const config: unknown = parse(readFileSync(path, 'utf8'));
  const context = named(config, 'contexts', text(config, 'current-context'), 'context');
  const cluster = named(config, 'clusters', text(context, 'cluster'), 'cluster');
  const user = named(config, 'users', text(context, 'user'), 'user');
  const folder = dirname(path);
  const server = text(cluster, 'server');
  if (server === '') throw new Error(`${path}: clusters[].cluster.server is missing`);
  return connectWith(new URL(server), {
    ca: pem(cluster, 'certificate-authority', folder),
    cert: pem(user, 'client-certificate', folder),
    key: pem(user, 'client-key', folder),
    token: text(user, 'token') || undefined,
  });
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
