import type {QuestionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import type {Append, Appended} from '../../api/wire/archive.ts';
import type {Acked, EventBatch, RefusedRequest, RunnerEvent} from '../../api/wire/runner.ts';
import {type Archive, ArchiveError} from '../../domain/archive.ts';
import {recordsOf} from '../../domain/transcript/event-record.ts';
import type {Cache, Client, Log} from '../../kube/ports.ts';
import type {Bound} from '../auth/binding.ts';
import {INDEX, sessionKey} from '../caches.ts';
import {APPLIED, type Applied, dropped} from './applied.ts';
import {applyQuestion, markDelivered, questionName} from './apply-question.ts';
import {applyReport} from './apply-report.ts';
import type {ArchiveTroubles} from './archive-trouble.ts';
import {finishedStatus, finishTurn} from './finish-turn.ts';

/** What taking events needs. */
export interface EventParts {
  readonly client: Client;
  readonly turns: Cache<TurnObject>;
  readonly questions: Cache<QuestionObject>;
  readonly archive: Archive;
  readonly troubles: ArchiveTroubles;
  readonly log: Log;
  readonly count: (event: string, dropped?: string) => void;
}

/**
 * Take a batch: archive first, then change objects. Everything may be repeated, so a batch whose acknowledgement was lost
 * is carried out again as a whole and changes nothing twice. Throws ArchiveError or ApiError when it has to be sent again.
 * That an agent lives is told before: else every start would run into its limit while the archive is away.
 */
export async function takeBatch(parts: EventParts, bound: Bound, batch: EventBatch, now: Date): Promise<Acked> {
  const {session, pod} = bound;
  const context = {now: now.toISOString(), sequenceOf: (uid: string) => sequenceOf(parts, bound, uid)};
  const refused: RefusedRequest[] = [];
  const over = overIn(batch.events);
  const settle = async (event: RunnerEvent): Promise<void> => {
    const result = over(event) ?? (await apply(parts, bound, {event, epoch: batch.epoch, now}));
    parts.count(event.type, result.kind === 'dropped' ? result.reason : undefined);
    if (result.kind === 'applied') return;
    if (event.type === 'question') refused.push({requestId: event.requestId, why: result.why});
    const {name, namespace} = session.metadata;
    // What was taken back, or is no more when that is said, is the normal course.
    const normal = event.type === 'withdrawn' || result.reason === 'taken_back';
    const fields = {session: name, namespace, pod: pod.uid, event: event.type, reason: result.reason};
    parts.log[normal ? 'debug' : 'warn'](fields, 'event dropped');
  };
  // Reports are level-triggered: of several, the last one is the truth.
  const report = batch.events.findLast((event) => event.type === 'report');
  const alive = report?.state === 'Starting' || report?.state === 'Ready';
  if (report !== undefined && alive) await settle(report);
  const {acked} = await store(parts, bound, {
    namespace: session.metadata.namespace ?? '',
    session: {name: session.metadata.name, uid: session.metadata.uid},
    source: pod.uid,
    epoch: batch.epoch,
    from: batch.from,
    records: recordsOf(batch.events, context),
  });
  for (const event of batch.events) {
    if (event.type !== 'report' || (event === report && !alive)) await settle(event);
  }
  return {acked, ...(refused.length === 0 ? {} : {refused})};
}

/** Requests that the same batch takes back, or whose turn it ends: they are not asked first, which may be what holds the end up. */
function overIn(events: readonly RunnerEvent[]): (event: RunnerEvent) => Applied | undefined {
  const taken = new Set(events.flatMap((e) => (e.type === 'withdrawn' ? [e.requestId] : [])));
  const ended = new Set(events.flatMap((e) => (e.type === 'turnFinished' ? [e.turnUid] : [])));
  return (event) =>
    event.type === 'question' && (taken.has(event.requestId) || ended.has(event.turnUid))
      ? dropped('taken_back', 'the agent took it back')
      : undefined;
}

async function store({archive, troubles}: EventParts, bound: Bound, append: Append): Promise<Appended> {
  try {
    const acked = await archive.append(append);
    await troubles.passed(bound);
    return acked;
  } catch (error) {
    if (error instanceof ArchiveError && error.kind === 'Unavailable') await troubles.failed(bound);
    throw error;
  }
}

interface Work {
  readonly event: RunnerEvent;
  readonly epoch: number;
  readonly now: Date;
}

async function apply({client, questions}: EventParts, bound: Bound, {event, epoch, now}: Work): Promise<Applied> {
  const {session, pod} = bound;
  const {namespace, name} = session.metadata;
  const ofSession = sessionKey(namespace, name);
  switch (event.type) {
    case 'record':
      return APPLIED;
    case 'report':
      return applyReport(client, bound, {report: event, epoch, now});
    case 'turnFinished': {
      const ending = {ref: {namespace, name: event.turnName}, turnUid: event.turnUid, podUid: pod.uid};
      return finishTurn(client, ending, finishedStatus(event, now));
    }
    case 'question':
      return applyQuestion(client, bound, {asked: event, now, others: questions.byIndex(INDEX.session, ofSession)});
    case 'delivered':
      return markDelivered(client, session, {name: event.question, uid: event.questionUid, at: now});
    case 'withdrawn': {
      const {turnUid, requestId} = event;
      return markDelivered(client, session, {name: questionName(session, {turnUid, requestId}), at: now});
    }
  }
}

function sequenceOf({turns}: EventParts, {session}: Bound, uid: string): number | undefined {
  const {namespace, name} = session.metadata;
  const cached = turns.byIndex(INDEX.session, sessionKey(namespace, name)).find((t) => t.metadata.uid === uid);
  const {activeTurn, admitted} = session.status ?? {};
  return cached?.status?.sequence ?? [activeTurn, ...(admitted ?? [])].find((t) => t?.uid === uid)?.sequence;
}
