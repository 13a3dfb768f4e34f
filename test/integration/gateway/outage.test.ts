import {randomUUID} from 'node:crypto';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {run} from '../../../hack/cluster/command.ts';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {LONG, openRelease, Place, type Release, until} from '../../support/release.ts';
import {processOf} from '../session/host.ts';
import {openQuestion} from '../session/person.ts';
import {type Client, clientOf, type Door, EVERYTHING, field, makeAccount, openDoors, send, untilAgent} from './door.ts';

let place: Place;
let release: Release;
let doors: [Door, Door];
let caller: Client;

const inRelease = (args: readonly string[]) => release.kubectl(['-n', RELEASE_NAMESPACE, ...args]);
const controllers = async (replicas: number): Promise<void> => {
  await inRelease(['scale', 'deployment/carrel-controller', `--replicas=${replicas}`]);
  await inRelease(['rollout', 'status', 'deployment/carrel-controller', '--timeout=180s']);
};
const controllerPods = async () =>
  (await inRelease(['get', 'pods', '-l', 'app.kubernetes.io/component=controller', '-o', 'name'])).trim();

beforeAll(async () => {
  release = await openRelease();
  place = await Place.make(release, 'outage');
  doors = await openDoors(release);
  await makeAccount(place, 'caller', EVERYTHING);
  await place.agent('scribe', {workspace: {size: '64Mi'}});
  caller = await clientOf(place, 'caller');
  await untilAgent(caller, doors, 'scribe');
});
afterAll(async () => {
  await controllers(1);
  await place?.remove();
});

describe('while the controller is away', () => {
  const start = {agent_root: 'scribe', prompt: 'say started late', idempotency_key: randomUUID()};

  it('Z-082 a start is accepted and the replay says that nothing has begun; afterwards it begins by itself', async () => {
    await controllers(0);
    await until(120_000, async () => expect(await controllerPods()).toBe(''));
    const first = await caller.call(doors[0], 'start_session', start);
    expect(first).toContain('## Session Started');
    const replay = await caller.call(doors[1], 'start_session', start);
    expect(replay).toContain('Existing Session Returned');
    expect(field(replay, 'Agent job')).toMatch(/^not queued: /);
    expect(await place.pods()).toEqual([]);
    const id = field(first, 'ID');
    const sent = await caller.act(doors[1], 'follow_up', id, {prompt: 'say second'});
    expect(sent).toContain('## follow_up: queued');

    await controllers(1);
    expect((await place.untilTurn(id, 2)).status?.phase).toBe('Completed');
    expect(field(await caller.call(doors[1], 'start_session', start), 'Agent job')).toMatch(/^(ended|queued|running)$/);
    const responses = (await place.turns(id)).map((t) => t.status?.response?.trim());
    expect(responses).toEqual(['started late', 'second']);
  });
});

describe('when a replica dies', () => {
  it('Z-085 a start whose reply is lost is found by its key, and has one pod', async () => {
    const start = {agent_root: 'scribe', prompt: 'say survived', idempotency_key: randomUUID()};
    const lost = caller.call(doors[0], 'start_session', start).catch(() => 'lost');
    await until(60_000, async () => {
      const names = await place.kubectl(['get', 'sessions.carrel.dev', '-o', 'name']);
      expect(names.trim().split('\n')).toHaveLength(2);
    });
    await inRelease(['delete', 'pod', doors[0].pod, '--grace-period=0', '--force']);
    await lost;
    const replay = await caller.call(doors[1], 'start_session', start);
    expect(replay).toContain('Existing Session Returned (idempotency_key matched)');
    const id = field(replay, 'ID');
    expect((await place.untilTurn(id, 1)).status?.response).toContain('survived');
    expect((await place.get(id)).status?.attempt).toBe(1);
    doors = await openDoors(release);
    expect(field(await caller.call(doors[0], 'start_session', start), 'ID')).toBe(id);
  });

  it('a running turn goes on and a message that waits is delivered when both replicas are replaced', async () => {
    await place.session('long', {agent: 'scribe', prompt: 'stall 15\nsay still the same turn'});
    await place.untilSession('long', (s) => s.status?.phase === 'Running' && s.status.runner?.state === 'Ready');
    await caller.act(doors[0], 'follow_up', 'long', {prompt: 'say and the next'});
    await inRelease(['delete', 'pod', ...doors.map((d) => d.pod)]);
    expect((await place.untilTurn('long', 1)).status).toMatchObject({phase: 'Completed'});
    expect((await place.untilTurn('long', 2)).status?.response).toContain('and the next');
    const session = await place.untilSession('long', (s) => s.status?.turns === 2);
    expect(session.status?.attempt).toBe(1);
    doors = await openDoors(release);
    const transcript = await caller.call(doors[1], 'get_transcript_archive', {session_id: 'long'});
    // Once in the prompt, once as the answer.
    expect(transcript.match(/still the same turn/g)).toHaveLength(2);
  });
});

describe('while no gateway runs', () => {
  const gateways = (replicas: number) => inRelease(['scale', 'deployment/carrel-gateway', `--replicas=${replicas}`]);
  const gatewayPods = async () =>
    (await inRelease(['get', 'pods', '-l', 'app.kubernetes.io/component=gateway', '-o', 'name'])).trim();

  it('a question that somebody deletes is taken back once there is one again, and the turn goes on', async () => {
    await place.session('asks', {agent: 'scribe', prompt: 'permission burn it down\nsay went on'});
    const question = await openQuestion(place, 'asks', 'Permission');
    await gateways(0);
    try {
      await until(120_000, async () => expect(await gatewayPods()).toBe(''));
      await place.kubectl(['delete', 'questions.carrel.dev', question.metadata.name]);
    } finally {
      await gateways(2);
      await inRelease(['rollout', 'status', 'deployment/carrel-gateway', '--timeout=180s']);
    }
    const turn = await place.untilTurn('asks', 1);
    expect(turn.status?.phase).toBe('Completed');
    expect(turn.status?.response).toMatch(/permission: cancelled[\s\S]*went on/);
    doors = await openDoors(release);
  });
});

describe('when a replica does not reach the API server', () => {
  const inPod = (pid: number, ...args: string[]) => run('nsenter', ['-t', `${pid}`, '-n', 'iptables', ...args]);
  /** A replica that a runner is connected to. */
  const busyGateway = () =>
    until(LONG, async () => {
      for (const {pod, url} of doors) {
        const {text} = await send(url.replace(/:8080$/, ':8082/metrics'), {method: 'GET'});
        if (/^carrel_runner_streams [1-9]/m.test(text)) return pod;
      }
      throw new Error('no runner is connected to a gateway');
    });
  const stateOf = async (pod: string) => {
    const path = '{.status.conditions[?(@.type=="Ready")].status} {.status.containerStatuses[0].restartCount}';
    return inRelease(['get', 'pod', pod, '-o', `jsonpath=${path}`]);
  };

  it('F50 it is not ready, is not restarted, and lets the runners go that it has: their next turns run', async (t) => {
    const names = ['one', 'two', 'three'];
    for (const name of names) await place.session(name, {agent: 'scribe', prompt: 'remember codeword is reed'});
    for (const name of names) await place.untilTurn(name, 1);
    const pod = await busyGateway();
    const uid = await inRelease(['get', 'pod', pod, '-o', 'jsonpath={.metadata.uid}']);
    const pid = await processOf(place, uid, 'gateway');
    if (pid === undefined) return t.skip('the processes of this cluster cannot be seen from here');
    const address = await release.kubectl(['get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}']);
    const drop = ['OUTPUT', '-p', 'tcp', '-d', address, '-j', 'DROP'];
    await inPod(pid, '-I', ...drop);
    try {
      await until(LONG, async () => expect(await stateOf(pod)).toBe('False 0'));
      for (const name of names) {
        await place.create('Turn', `${name}-2`, {session: name, input: [{text: 'recall codeword'}]});
      }
      for (const name of names) {
        expect((await place.untilTurn(name, 2)).status).toMatchObject({phase: 'Completed'});
        expect((await place.get(name)).status?.attempt).toBe(1);
      }
    } finally {
      await inPod(pid, '-D', ...drop);
    }
    await until(LONG, async () => expect(await stateOf(pod)).toBe('True 0'));
  });
});
