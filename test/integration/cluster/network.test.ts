import {afterAll, beforeAll, expect, test} from 'vitest';
import {answering, canFetch, eventually, makePlace, type Place, shellPod} from './place.ts';

let place: Place;

beforeAll(async () => {
  place = await makePlace('network');
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name: 'web'},
    spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 8080}]},
  };
  await place.apply(
    shellPod(place, {name: 'web', node: 'n1', line: answering('hello')}),
    shellPod(place, {name: 'client', node: 'n2', line: 'sleep 3600'}),
    shellPod(place, {name: 'neighbour', node: 'n1', line: 'sleep 3600'}),
    service,
  );
  for (const pod of ['web', 'client', 'neighbour']) await place.waitReady(pod);
});

afterAll(() => place.remove());

test('two nodes are Ready, each with a runtime of its own', async () => {
  const nodes = await place.cluster.kubectl([
    'get',
    'nodes',
    '-o',
    'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}',
  ]);
  expect(nodes).toContain('n1=True');
  expect(nodes).toContain('n2=True');
});

test('a Service answers across nodes, by its address and by its name', async () => {
  const address = await place.kubectl(['get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}']);
  await eventually('the Service by address', () => canFetch(place, 'client', `http://${address}`));
  await eventually('the Service by name', () =>
    canFetch(place, 'client', `http://web.${place.namespace}.svc.cluster.local`),
  );
  expect(await place.exec('client', 'wget', '-q', '-O', '-', 'http://web')).toBe('hello\n');
});

test('a name that does not exist is refused at once, not after a timeout', async () => {
  const answer = await place.exec('client', 'sh', '-c', 'nslookup nowhere.example 2>&1 || true');
  expect(answer).toContain('NXDOMAIN');
});

test('a pod is reached from this machine by its address', async () => {
  const address = await place.kubectl(['get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}']);
  expect(await (await fetch(`http://${address}:8080`)).text()).toBe('hello\n');
});

test('a NetworkPolicy blocks pods of the same and of another node, and opens again when it is gone', async () => {
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {name: 'closed'},
    spec: {podSelector: {matchLabels: {app: 'web'}}, policyTypes: ['Ingress']},
  };
  const open = async () =>
    (await canFetch(place, 'client', 'http://web')) && (await canFetch(place, 'neighbour', 'http://web'));
  const closed = async () =>
    !(await canFetch(place, 'client', 'http://web')) && !(await canFetch(place, 'neighbour', 'http://web'));
  await eventually('the way before the policy', open);
  await place.apply(policy);
  await eventually('the policy to block', closed);
  await place.kubectl(['delete', 'networkpolicy', 'closed']);
  await eventually('the way after the policy', open);
});
