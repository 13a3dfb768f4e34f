import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {type Cluster, chooseProvider, down, openCluster, up} from '../../../hack/cluster/cluster.ts';
import {run, runAny} from '../../../hack/cluster/command.ts';
import {readSettings} from '../../../hack/cluster/settings.ts';
import {ROOT} from '../../../hack/image/build.ts';
import {eventually} from './place.ts';

const NAME = 'lifecycle';
const WITHOUT_IMAGE_VOLUMES = ['--emulated-version=1.35', '--feature-gates=ImageVolume=false'];
const folder = join(readSettings().state, NAME);

let cluster: Cluster;
let kernelNames: string;

beforeAll(async () => {
  cluster = await up({name: NAME, nodes: 1, apiserverArgs: WITHOUT_IMAGE_VOLUMES});
  const record = JSON.parse(await readFile(join(folder, 'cluster.json'), 'utf8'));
  kernelNames = `crl${record.slot}`;
});

afterAll(() => down(NAME));

/** Everything on this machine that carries the cluster's kernel names. */
async function traces(): Promise<string[]> {
  const cgroups = await run('sh', ['-c', 'ls -d /sys/fs/cgroup/crl* /sys/fs/cgroup/*/crl* 2>/dev/null; true']);
  const lists = [
    await run('ip', ['netns', 'list']),
    await run('ip', ['-o', 'link']),
    cgroups,
    await readFile('/proc/mounts', 'utf8'),
  ];
  const processes = (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return [...lists.join('\n').split('\n'), ...(await Promise.all(processes))].filter(
    (line) => line.includes(kernelNames) || line.includes(`${folder}/`),
  );
}

test('it stands beside the cluster of the other tests, in an address range of its own', async () => {
  const other = await openCluster();
  expect(cluster.networks?.pods).not.toBe(other.networks?.pods);
  expect(await cluster.kubectl(['get', 'nodes', '-o', 'name'])).toBe('node/n1\n');
});

const cli = (...args: string[]) =>
  runAny(process.execPath, [join(ROOT, 'hack/cluster/main.ts'), ...args, '--name', NAME]);

test('the command line shows it, and switches its API server and its node off and on', async () => {
  expect(await cli('kubeconfig')).toMatchObject({code: 0, stdout: `${cluster.kubeconfigPath}\n`});
  expect((await cli('logs')).stdout).toContain('kube-apiserver');
  expect((await cli('logs', 'etcd')).stdout).toContain('etcd');
  const states = async () =>
    (await cli('status')).stdout.split('\n').map((line) => line.split(/\s+/).slice(0, 2).join(' '));
  expect(await states()).toEqual(expect.arrayContaining(['kube-apiserver running', 'n1 running']));
  await cli('apiserver', 'stop');
  await cli('node', 'stop', 'n1');
  expect(await states()).toEqual(expect.arrayContaining(['kube-apiserver stopped', 'n1 stopped']));
  expect(await cli('apiserver', 'start')).toMatchObject({code: 0});
  expect(await cli('node', 'start', 'n1')).toMatchObject({code: 0});
  expect(await states()).toEqual(expect.arrayContaining(['kube-apiserver running', 'n1 running']));
});

test.each([
  {args: [], says: 'npm run cluster -- VERB', code: 2},
  {args: ['jump'], says: 'npm run cluster -- VERB', code: 2},
  {args: ['node', 'jump', 'n1'], says: 'jump: allowed are stop, start, kill, partition, heal', code: 1},
  {args: ['node', 'stop', 'n9'], says: 'n9', code: 1},
  {args: ['logs', 'nobody'], says: 'nobody: allowed are', code: 1},
  {args: ['up', '--nodes', '0'], says: '--nodes 0: allowed are 1 to', code: 1},
])('the command line refuses $args with what is allowed', async ({args, says, code}) => {
  const {stdout, stderr, code: ended} = await cli(...args);
  expect([ended, stdout + stderr]).toEqual([code, expect.stringContaining(says)]);
});

test('an API server of an older version without image volumes drops them without a word', async () => {
  const image = cluster.busyboxImage ?? '';
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'dropped'},
    spec: {
      containers: [
        {name: 'main', image, command: ['sleep', '1'], volumeMounts: [{name: 'runtime', mountPath: '/runtime'}]},
      ],
      volumes: [{name: 'runtime', image: {reference: image}}],
    },
  };
  const made = JSON.parse(
    await cluster.kubectl(
      ['create', '--validate=false', '--dry-run=server', '-o', 'json', '-f', '-'],
      JSON.stringify(pod),
    ),
  );
  expect(JSON.stringify(made.spec.volumes ?? [])).not.toContain('reference');
});

test('a node that is just starting cannot lead others astray: redirects are neither sent nor believed', async () => {
  for (const end of ['cp', 'n1']) {
    const files = '/proc/sys/net/ipv4/conf/all/*_redirects /proc/sys/net/ipv4/conf/eth0/*_redirects';
    const values = await run('ip', ['netns', 'exec', `${kernelNames}-${end}`, 'sh', '-c', `grep -H . ${files}`]);
    for (const line of values
      .trim()
      .split('\n')
      .filter((l) => /(accept|send)_redirects:/.test(l)))
      expect(line, end).toMatch(/:0$/);
  }
});

test('after every process has died, up brings the same cluster back', async () => {
  await cluster.kubectl(['create', 'configmap', 'kept']);
  const pids = await readdir(join(folder, 'pid'));
  for (const name of pids)
    process.kill(Number((await readFile(join(folder, 'pid', name), 'utf8')).split('\n')[0]), 'SIGKILL');
  await eventually('the end of all processes', async () =>
    (await chooseProvider().status(NAME)).every(({state}) => state === 'stopped'),
  );
  cluster = await up({name: NAME});
  expect(await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n');
  expect((await chooseProvider().status(NAME)).map(({state}) => state)).toEqual(Array(6).fill('running'));
});

test('after an up that was killed while it made the networks, the next one makes them whole', async () => {
  const pids = await readdir(join(folder, 'pid'));
  for (const name of pids)
    process.kill(Number((await readFile(join(folder, 'pid', name), 'utf8')).split('\n')[0]), 'SIGKILL');
  await eventually('the end of all processes', async () =>
    (await chooseProvider().status(NAME)).every(({state}) => state === 'stopped'),
  );
  // What is left when it is killed before its last steps.
  for (const end of ['cp', 'net']) await run('ip', ['netns', 'del', `${kernelNames}-${end}`]);
  await eventually('the end of the cable', async () => (await runAny('ip', ['link', 'show', kernelNames])).code !== 0);
  for (const end of ['cp', 'net']) await run('ip', ['netns', 'add', `${kernelNames}-${end}`]);
  cluster = await up({name: NAME});
  expect(await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n');
});

test('down leaves no process, namespace, link, cgroup, mount or file', async () => {
  expect((await traces()).length).toBeGreaterThan(0);
  await down(NAME);
  await eventually('no trace', async () => (await traces()).length === 0, 10_000);
  expect(existsSync(folder)).toBe(false);
});
