import {readFile} from 'node:fs/promises';
import type {z} from 'zod';
import {buildGo} from '../../support/go/build.ts';
import type {Place} from '../../support/release.ts';

/** A container of a pod. */
export interface Inside {
  readonly place: Place;
  readonly pod: string;
  readonly container?: string;
}

const NODE = '/usr/local/bin/node';

/**
 * Runs one of `probes/` as the user of that container and returns what it printed. The image must have our Node, as that of
 * the scripted agent has. The input travels in base64, so that a probe that looks for a value does not find its own input.
 */
export async function attack<T>(
  inside: Inside,
  probe: string,
  what: {input?: object; result: z.ZodType<T>},
): Promise<T> {
  const source = await readFile(new URL(`probes/${probe}.ts`, import.meta.url), 'utf8');
  const input = Buffer.from(JSON.stringify(what.input ?? {})).toString('base64');
  const container = inside.container ?? 'agent';
  const command = [NODE, '--input-type=module-typescript', '-', input];
  const printed = await inside.place.kubectl(['exec', '-i', inside.pod, '-c', container, '--', ...command], source);
  return what.result.parse(JSON.parse(printed));
}

/** Name of the pod that a Session has now. */
export async function podOf(place: Place, session: string): Promise<string> {
  const name = (await place.get(session)).status?.pod?.name;
  if (name === undefined) throw new Error(`session ${session} has no pod`);
  return name;
}

/** Makes a Secret of plain values. */
export async function makeSecret(place: Place, name: string, values: Readonly<Record<string, string>>): Promise<void> {
  const secret = {apiVersion: 'v1', kind: 'Secret', metadata: {name}, stringData: values};
  await place.kubectl(['create', '-f', '-'], JSON.stringify(secret));
}

/** A pod of ours beside the session pods: Node that runs a line of JavaScript. */
export function nodePod(
  place: Place,
  name: string,
  line: string,
  more: {labels?: object; spec?: object; mounts?: object[]} = {},
): object {
  const rights = {allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: 65534, runAsGroup: 65534};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels: {app: name, ...more.labels}},
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'agent',
          image: place.release.images.scriptedAgent,
          command: [NODE, '-e', line],
          securityContext: rights,
          ...(more.mounts === undefined ? {} : {volumeMounts: more.mounts}),
        },
      ],
      ...more.spec,
    },
  };
}

/** Puts the attacker's program into the workspace of the agent, as an agent could do by itself, and returns its path. */
export async function bringProgram({place, pod}: Inside): Promise<string> {
  const path = '/workspace/attacker';
  const program = (await readFile(await buildGo('attacker'))).toString('base64');
  const unpack = `/bin/busybox base64 -d >${path} && /bin/busybox chmod 700 ${path}`;
  await place.kubectl(['exec', '-i', pod, '-c', 'agent', '--', '/bin/busybox', 'sh', '-c', unpack], program);
  return path;
}

/** Process id of the scripted agent, as its own container counts. */
export async function agentPid({place, pod}: Inside): Promise<number> {
  const test = 'grep -q scripted-agent.js $p/cmdline 2>/dev/null';
  const find = `for p in /proc/[0-9]*; do if ${test}; then echo \${p#/proc/}; fi; done`;
  const found = await place.kubectl(['exec', pod, '-c', 'agent', '--', '/bin/sh', '-c', find]);
  return Math.min(...found.trim().split('\n').map(Number));
}
