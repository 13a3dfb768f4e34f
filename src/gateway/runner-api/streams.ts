import type {ServerResponse} from 'node:http';
import {wholeSeconds} from '../../api/condition-list.ts';
import type {KubeObject} from '../../api/kube-object.ts';
import type {TurnStatus} from '../../api/v1alpha1/index.ts';
import {pause} from '../../kube/clock.ts';
import {cutOff} from '../../kube/cut-off.ts';
import type {Change} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {INDEX, sessionKey} from '../caches.ts';
import {type DesiredView, desiredView} from './desired.ts';
import {finishTurn} from './finish-turn.ts';
import type {RunnerApiParts} from './index.ts';
import {DesiredStream, type StreamSource} from './stream.ts';
import {readInput} from './turn-input.ts';

/** The open streams of this replica. */
export interface Streams {
  open(bound: Bound, response: ServerResponse): void;
  drain(overMs: number): Promise<void>;
  size(): number;
}

/** This replica knows nothing new of Sessions or Turns, and cannot say when it will. */
export function hearsNothing({sessions, turns}: RunnerApiParts['caches']): boolean {
  return cutOff(Math.max(sessions.deafMs(), turns.deafMs()));
}

/** Keep at most one stream for each pod, and wake it when anything of its Session changes. */
export function createStreams(parts: RunnerApiParts): Streams {
  const byPod = new Map<string, DesiredStream>();
  let draining = false;
  const bySession = new Map<string, Set<DesiredStream>>();
  const wake = (session: string) => {
    for (const stream of bySession.get(session) ?? []) stream.notify();
  };
  watch(parts, wake);
  return {
    open(bound, response) {
      if (response.destroyed) return;
      const {uid} = bound.pod;
      // A new connection of the same pod means that the old one is dead, whatever TCP says.
      byPod.get(uid)?.close();
      const {namespace, name} = bound.session.metadata;
      const stream = new DesiredStream(response, sourceOf(parts, bound), parts.clock);
      const session = sessionKey(namespace, name);
      const ofSession = bySession.get(session) ?? new Set();
      bySession.set(session, ofSession.add(stream));
      byPod.set(uid, stream);
      response.on('close', () => {
        if (byPod.get(uid) === stream) byPod.delete(uid);
        ofSession.delete(stream);
        if (ofSession.size === 0 && bySession.get(session) === ofSession) bySession.delete(session);
      });
      if (draining) stream.close();
    },
    async drain(overMs) {
      draining = true;
      const open = [...byPod.values()];
      for (const stream of open) {
        stream.close();
        await pause(parts.clock, overMs / open.length);
      }
    },
    size: () => byPod.size,
  };
}

function watch({caches}: RunnerApiParts, wake: (session: string) => void): void {
  const on =
    <T extends KubeObject>(nameOf: (object: T) => string) =>
    (change: Change<T>) => {
      const object = change.new ?? change.old;
      if (object !== undefined) wake(sessionKey(object.metadata.namespace, nameOf(object)));
    };
  caches.sessions.subscribe(on((session) => session.metadata.name));
  caches.turns.subscribe(on((turn) => turn.spec.session));
  caches.questions.subscribe(on((question) => question.spec.session));
}

function sourceOf(parts: RunnerApiParts, {pod, session}: Bound): StreamSource {
  const {caches, client, log} = parts;
  const {namespace, name, uid} = session.metadata;
  const key = sessionKey(namespace, name);
  return {
    view(delivered) {
      // Another replica may hear what this one does not.
      if (hearsNothing(caches)) return undefined;
      const cached = caches.sessions.get({namespace, name});
      // The Session may have been read live at the start of the stream: a cache that is behind it does not end the stream.
      const behind = !caches.sessions.hasSeen({namespace, name}, session.metadata.resourceVersion);
      const present = behind ? session : cached;
      if (present?.metadata.uid !== uid || present.status?.pod?.uid !== pod.uid) return undefined;
      const turns = caches.turns.byIndex(INDEX.session, key);
      const questions = caches.questions.byIndex(INDEX.session, key);
      const questionsFresh = caches.questions.fresh();
      return desiredView({session: present, podUid: pod.uid, turns, questions, questionsFresh, delivered});
    },
    input: ({object}) => readInput(client, object),
    giveUp: (turn, why) => giveUp(parts, {pod, session}, {turn, why}),
    problem: (error) =>
      log.warn(
        {namespace, session: name, error: error instanceof Error ? error.message : 'unknown'},
        'no document yet',
      ),
  };
}

interface GivenUp {
  readonly turn: NonNullable<DesiredView['turn']>;
  readonly why: {readonly code: string; readonly message: string};
}

// The same source and number as when the controller ends a turn: whoever is first, the archive has one end.
async function giveUp(parts: RunnerApiParts, {pod, session}: Bound, {turn, why}: GivenUp): Promise<void> {
  const {metadata, status} = turn.object;
  const now = new Date(parts.clock.now());
  const error = {code: why.code, message: why.message.slice(0, 1_024)};
  await parts.archive.append({
    namespace: metadata.namespace ?? '',
    session: {name: session.metadata.name, uid: session.metadata.uid},
    source: `turn/${metadata.uid}`,
    epoch: 0,
    from: 1,
    records: [
      {
        time: now.toISOString(),
        kind: 'turn_finished',
        turn: {uid: metadata.uid, sequence: status?.sequence ?? 0},
        text: error.message,
        data: {phase: 'Failed', error, by: 'gateway'},
      },
    ],
  });
  const end: TurnStatus = {phase: 'Failed', error, finishedAt: wholeSeconds(now), archived: true};
  const ref = {namespace: metadata.namespace, name: metadata.name};
  await finishTurn(parts.client, {ref, turnUid: metadata.uid, podUid: pod.uid}, end);
}
