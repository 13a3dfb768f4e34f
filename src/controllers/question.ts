import type {Manifest} from '../api/kube-object.ts';
import type {Outcome} from '../api/outcome.ts';
import {Question, type QuestionObject, type SessionObject, type TurnObject} from '../api/v1alpha1/index.ts';
import {conditionEvents} from '../domain/condition-events.ts';
import {answerWaits, planQuestion, type QuestionPlan} from '../domain/question/plan.ts';
import {isTerminal} from '../domain/turn/status.ts';
import {defineController} from '../kube/controller.ts';
import type {ControllerDefinition, Key, ReconcileInput} from '../kube/controller-ports.ts';
import {isApiError} from '../kube/errors.ts';
import {Questions, Sessions, Turns} from '../kube/kinds.ts';
import {writeStatus} from '../kube/status.ts';
import {INDEX, within} from './caches.ts';
import {createOrOwn} from './session-steps.ts';
import {askedFor, matters, wakeOn} from './wake.ts';

/** Opens Questions, closes them, and sends answers that came late as a turn. */
export function questionController(): ControllerDefinition {
  const keys = (list: readonly QuestionObject[]): Key[] =>
    list.map((q) => ({namespace: q.metadata.namespace ?? '', name: q.metadata.name}));
  return defineController({
    name: 'question',
    resource: Questions,
    workers: 2,
    wakes: (change) =>
      matters(change, (old, now) => askedFor(old, now) || old.status?.deliveredAt !== now.status?.deliveredAt),
    watches: [
      wakeOn({
        resource: Turns,
        changed: (old, now) => isTerminal(old) !== isTerminal(now),
        keys: (t, read) => keys(read.of(Questions).byIndex(INDEX.turn, within(t.metadata.namespace, t.metadata.name))),
      }),
      wakeOn({
        resource: Sessions,
        changed: (old, now) => whereItStands(old) !== whereItStands(now),
        keys: (s, read) =>
          keys(read.of(Questions).byIndex(INDEX.session, within(s.metadata.namespace, s.metadata.name))),
      }),
    ],
    reconcile: reconcileQuestion,
  });
}

function whereItStands({metadata, status}: SessionObject): string {
  const taking = ['Closed', 'Closing', 'Failed', 'Archived'].includes(status?.phase ?? '');
  return [metadata.uid, status?.pod?.uid, taking ? status?.phase : '', metadata.deletionTimestamp].join(' ');
}

/** The Session of that name, if it is the one that asked. */
function asker({metadata}: QuestionObject, named: SessionObject | undefined): SessionObject | undefined {
  const owner = metadata.ownerReferences?.find((o) => o.kind === 'Session');
  return owner === undefined || owner.uid === named?.metadata.uid ? named : undefined;
}

async function reconcileQuestion(input: ReconcileInput<QuestionObject>): Promise<Outcome> {
  const {object: question, read, write, now, events} = input;
  const {namespace} = question.metadata;
  const sessionRef = {namespace, name: question.spec.session};
  const turnRef = {namespace, name: question.spec.turn};
  let [session, turn] = [read.of(Sessions).get(sessionRef), read.of(Turns).get(turnRef)];
  let plan = planQuestion({question, session: asker(question, session), turn, now});
  // Neither can be taken back, and the caches of the other kinds may be behind the one of Questions.
  const withdrawn = plan.status.phase === 'Withdrawn' && question.status?.phase !== 'Withdrawn';
  if (withdrawn || plan.create !== undefined) {
    [session, turn] = await Promise.all([write.find(Sessions, sessionRef), write.find(Turns, turnRef)]);
    plan = planQuestion({question, session: asker(question, session), turn, now});
  }
  if (plan.create !== undefined && session !== undefined)
    plan = await deliverLate(input, {plan, turn: plan.create, session});
  await writeStatus({write, resource: Questions, object: question, status: plan.status});
  for (const event of conditionEvents(Question.conditions, question.status?.conditions, plan.status.conditions)) {
    // Who looks at the session has to see it too.
    const regarding = event.reason === 'NameTaken' && session !== undefined ? [question, session] : [question];
    for (const object of regarding) events.record({regarding: object, action: 'Report', ...event});
  }
  return plan.outcome;
}

/** Makes the Turn that brings a late answer. Where somebody else's has its name, the answer is kept and that is told. */
async function deliverLate(
  {object: question, write, now}: ReconcileInput<QuestionObject>,
  {plan, turn, session}: {plan: QuestionPlan; turn: Manifest<TurnObject>; session: SessionObject},
): Promise<QuestionPlan> {
  try {
    const made = await createOrOwn(write, Turns, {claim: turn, owner: session});
    return made === 'taken' ? answerWaits(question, plan, turn.metadata.name, now) : plan;
  } catch (error) {
    if (isApiError(error, 'NamespaceTerminating')) return plan;
    throw error;
  }
}
