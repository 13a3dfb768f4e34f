import {z} from 'zod';
import type {GatewayAccess} from '../gateway.ts';
import type {BenchPlace} from './place.ts';

/** Starts measured; the two kinds alternate, so that both meet the same machine. */
const ROUNDS = 5;

const Transcript = z.object({records: z.array(z.object({kind: z.string(), time: z.string()}))});

/** Medians in milliseconds of one run. */
export interface StartTimes {
  /** Session create -> prompt handed to the agent. */
  session: number;
  /** Pod create -> first words of a bare pod with the same image and a new volume of the same class. */
  barePod: number;
}

/** Measures starts of sessions against bare pods, one after the other. */
export async function measureStarts(place: BenchPlace, gateway: GatewayAccess, token: string): Promise<StartTimes> {
  const sessions: number[] = [];
  const pods: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    pods.push(await barePod(place, `bare-${round}`));
    sessions.push(await session(place, `start-${round}`, {gateway, token}));
  }
  return {session: median(sessions), barePod: median(pods)};
}

async function session(
  place: BenchPlace,
  name: string,
  access: {gateway: GatewayAccess; token: string},
): Promise<number> {
  const start = Date.now();
  await place.create('Session', name, {agent: 'bench', prompt: 'say ready'});
  await place.firstTurnDone(name);
  const url = `${access.gateway.url}/api/v1/sessions/${name}/transcript?namespace=${place.namespace}`;
  const reply = await fetch(url, {headers: {authorization: `Bearer ${access.token}`}});
  if (!reply.ok) throw new Error(`transcript of ${name}: ${reply.status} ${await reply.text()}`);
  const {records} = Transcript.parse(await reply.json());
  const handed = records.find((r) => r.kind === 'turn_started');
  if (handed === undefined) throw new Error(`the transcript of ${name} has no turn_started`);
  await place.kubectl(['delete', `sessions.carrel.dev/${name}`, '--wait=true', '--timeout=60s']);
  return Date.parse(handed.time) - start;
}

async function barePod(place: BenchPlace, name: string): Promise<number> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name},
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '64Mi'}}},
  };
  const rights = {allowPrivilegeEscalation: false, capabilities: {drop: ['ALL']}, readOnlyRootFilesystem: true};
  const container = {
    name: 'bare',
    image: place.environment.images.scriptedAgent,
    command: ['/usr/local/bin/node', '-e', 'console.log(Date.now())'],
    securityContext: rights,
    volumeMounts: [{name: 'data', mountPath: '/workspace'}],
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name},
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [container],
      volumes: [{name: 'data', persistentVolumeClaim: {claimName: name}}],
    },
  };
  const start = Date.now();
  await place.kubectl(['create', '-f', '-'], JSON.stringify({apiVersion: 'v1', kind: 'List', items: [claim, pod]}));
  await place.wait(`pod/${name}`, '{.status.phase}', 'Succeeded');
  const said = Number((await place.kubectl(['logs', name])).trim());
  await place.kubectl(['delete', `pod/${name}`, `pvc/${name}`, '--wait=false']);
  return said - start;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
