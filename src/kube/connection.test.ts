import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {fakeClock} from '../../test/support/fake-clock.ts';
import {inCluster} from './connection.ts';
import {fromKubeconfig} from './kubeconfig.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'connection-'));
});
afterEach(() => rmSync(folder, {recursive: true}));

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

test('F49 the token is read anew after a minute, and at once when it was refused', async () => {
  const clock = fakeClock();
  const files = {host: '10.0.0.1', port: '6443', tokenFile: write('token', 'one\n'), caFile: write('ca', 'CA')};
  const connection = inCluster(files, clock);
  expect(connection.credentials()).toEqual({token: 'one', ca: 'CA'});
  write('token', 'two');
  expect(connection.credentials().token).toBe('one');
  expect(connection.credentials(true).token).toBe('two');
  write('token', 'three');
  await clock.advance(60_000);
  expect(connection.credentials().token).toBe('three');
  rmSync(files.tokenFile);
  await clock.advance(60_000);
  expect(connection.credentials().token).toBe('three');
});

test('an IPv6 host becomes a good address; no token at all is an error', () => {
  const files = {host: 'fd00::1', port: '443', tokenFile: join(folder, 'none'), caFile: join(folder, 'none')};
  const connection = inCluster(files, fakeClock());
  expect(connection.server.hostname).toBe('[fd00::1]');
  expect(() => connection.credentials()).toThrow('ENOENT');
});

test('a kubeconfig gives address, CA and certificate, as data or as files beside it', () => {
  write('client.crt', 'CERT');
  const config = {
    'current-context': 'main',
    contexts: [{name: 'main', context: {cluster: 'c', user: 'u'}}],
    clusters: [
      {
        name: 'c',
        cluster: {server: 'https://1.2.3.4:6443', 'certificate-authority-data': Buffer.from('CA').toString('base64')},
      },
    ],
    users: [
      {name: 'u', user: {'client-certificate': 'client.crt', 'client-key-data': Buffer.from('KEY').toString('base64')}},
    ],
  };
  const connection = fromKubeconfig(write('config', JSON.stringify(config)));
  expect(connection.server.host).toBe('1.2.3.4:6443');
  expect(connection.credentials()).toEqual({ca: 'CA', cert: 'CERT', key: 'KEY', token: undefined});
});

test.each([
  {key: 'exec', user: {exec: {command: 'aws'}}},
  {key: 'tokenFile', user: {tokenFile: '/token'}},
  {key: 'insecure-skip-tls-verify', cluster: {'insecure-skip-tls-verify': true}},
])(
  'a kubeconfig with $key is refused by name: without it the caller would be somebody else',
  ({key, user, cluster}) => {
    const config = {
      'current-context': 'main',
      contexts: [{name: 'main', context: {cluster: 'c', user: 'u'}}],
      clusters: [{name: 'c', cluster: {server: 'https://1.2.3.4:6443', ...cluster}}],
      users: [{name: 'u', user: {token: 't', ...user}}],
    };
    expect(() => fromKubeconfig(write('config', JSON.stringify(config)))).toThrow(`${key} is not supported here`);
  },
);
