import {z} from 'zod';
import type {GatewayAccess} from '../gateway.ts';
import type {BenchPlace} from './place.ts';

/** Starts measured; the two kinds alternate, so that both meet the same machine. */
const ROUNDS = 5;

const Transcript = z.object({records: z.array(z.object({kind: z.string(), time: z.string()}))});

/** Medians in milliseconds of one run. */
export interface StartTimes {
  /** Session create -> prompt handed to the agent, with a volume that has to be made. */
  session: number;
  /** The same of a bare pod of the same image: create -> first words, with a volume that has to be made. */
  barePod: number;
  /** Turn for a sleeping Session created -> prompt handed to the agent; its volume is bound. */
  wake: number;
  /** Create -> first words of a bare pod on a volume that is bound. */
  barePodBound: number;
}

/** Where a round is measured, and who may read transcripts. */
interface Bench {
  place: BenchPlace;
  gateway: GatewayAccess;
  token: string;
}

/** Measures starts of sessions against bare pods, one after the other. */
export async function measureStarts(bench: Bench): Promise<StartTimes> {
  const rounds: StartTimes[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const pods = await barePods(bench.place, `bare-${round}`);
    rounds.push({...pods, ...(await session(bench, `start-${round}`))});
  }
  const of = (name: keyof StartTimes) => median(rounds.map((r) => r[name]));
  return {session: of('session'), barePod: of('barePod'), wake: of('wake'), barePodBound: of('barePodBound')};
}

async function session(bench: Bench, name: string): Promise<{session: number; wake: number}> {
  const {place} = bench;
  const start = Date.now();
  await place.create('Session', name, {agent: 'bench', prompt: 'say ready'});
  await place.firstTurnDone(name);
  const object = `sessions.carrel.dev/${name}`;
  await place.kubectl(['patch', object, '--type=merge', '-p', '{"spec":{"desired":"Sleeping"}}']);
  await place.wait(object, '{.status.phase}', 'Sleeping');
  await place.kubectl(['wait', 'pods', '-l', `carrel.dev/session=${name}`, '--for=delete', '--timeout=60s']);
  const wake = Date.now();
  await place.create('Turn', `${name}-2`, {session: name, input: [{text: 'say again'}]});
  await place.wait(`turns.carrel.dev/${name}-2`, '{.status.phase}', 'Completed');
  const [first, second] = await handedOver(bench, name);
  await place.kubectl(['delete', object, '--wait=true', '--timeout=60s']);
  return {session: (first ?? Number.NaN) - start, wake: (second ?? Number.NaN) - wake};
}

/** When each prompt of a Session was handed to its agent, by the runner's clock, in milliseconds since the epoch. */
async function handedOver({place, gateway, token}: Bench, session: string): Promise<number[]> {
  const url = `${gateway.url}/api/v1/sessions/${session}/transcript?namespace=${place.namespace}`;
  const reply = await fetch(url, {headers: {authorization: `Bearer ${token}`}});
  if (!reply.ok) throw new Error(`transcript of ${session}: ${reply.status} ${await reply.text()}`);
  const {records} = Transcript.parse(await reply.json());
  const times = records.filter((r) => r.kind === 'turn_started').map((r) => Date.parse(r.time));
  if (times.length !== 2) throw new Error(`the transcript of ${session} has ${times.length} turns that began, not 2`);
  return times;
}

async function barePods(place: BenchPlace, name: string): Promise<{barePod: number; barePodBound: number}> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name},
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '64Mi'}}},
  };
  const times = {
    barePod: await barePod(place, `${name}-new`, [claim, podOn(place, `${name}-new`, name)]),
    barePodBound: await barePod(place, `${name}-bound`, [podOn(place, `${name}-bound`, name)]),
  };
  await place.kubectl(['delete', `pvc/${name}`, '--wait=false']);
  return times;
}

function podOn(place: BenchPlace, name: string, claimName: string): object {
  const rights = {allowPrivilegeEscalation: false, capabilities: {drop: ['ALL']}, readOnlyRootFilesystem: true};
  const container = {
    name: 'bare',
    image: place.environment.images.scriptedAgent,
    command: ['/usr/local/bin/node', '-e', 'console.log(Date.now())'],
    securityContext: rights,
    volumeMounts: [{name: 'data', mountPath: '/workspace'}],
  };
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    containers: [container],
    volumes: [{name: 'data', persistentVolumeClaim: {claimName}}],
  };
  return {apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec};
}

async function barePod(place: BenchPlace, name: string, items: readonly object[]): Promise<number> {
  const start = Date.now();
  await place.kubectl(['create', '-f', '-'], JSON.stringify({apiVersion: 'v1', kind: 'List', items}));
  await place.wait(`pod/${name}`, '{.status.phase}', 'Succeeded');
  const said = Number((await place.kubectl(['logs', name])).trim());
  await place.kubectl(['delete', `pod/${name}`, '--wait=true']);
  return said - start;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
