import type {Manifest} from '../../api/kube-object.ts';
import {uid8} from '../../api/meta.ts';
import type {QuestionObject, SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import {identityOf} from '../session/identity.ts';
import {madeTurnName} from '../session/initial-turn.ts';
import {ownedBySession, sessionLabels} from '../session/volume.ts';
import {inputParts} from '../turn/input.ts';

/** The turn that brings a late answer to the agent. One question has one such turn: its name says so. */
export function lateAnswer(question: QuestionObject, session: SessionObject): Manifest<TurnObject> {
  const identity = identityOf(session);
  return {
    metadata: {
      name: madeTurnName(session, `answer-${uid8(question.metadata.uid)}`),
      namespace: identity.namespace,
      labels: sessionLabels(identity),
      ownerReferences: [ownedBySession(identity)],
    },
    spec: {
      session: session.metadata.name,
      input: inputParts(quoted(question)),
      author: {kind: 'System', name: 'carrel', session: session.metadata.name},
      delivery: 'Queue',
    },
  };
}

function quoted({spec}: QuestionObject): string {
  const by = spec.answeredBy === undefined ? '' : ` (by ${spec.answeredBy})`;
  return `You asked:\n${indented(spec.text)}\n\nThe answer${by}:\n${indented(answerText(spec))}`;
}

function answerText({answer, options}: QuestionObject['spec']): string {
  if (answer?.option !== undefined) {
    const label = options?.find((o) => o.id === answer.option)?.label;
    return label === undefined ? answer.option : `${label} (${answer.option})`;
  }
  return answer?.text ?? answer?.content ?? '';
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
