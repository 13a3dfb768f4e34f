import type {Json} from '../../../src/api/json.ts';
import {MISFIT} from './examples.ts';
import type {Write} from './writers.ts';

const ROBOT = 'system:serviceaccount:NAMESPACE:robot';
const NO_QUESTION =
  'a Question is asked by an agent, through the platform, and nobody else makes one; to tell a session something, create a Turn';
export const ANSWER = {option: 'a'};
/** A form that alice answered, with what does not fit once a status says so. */
export const FORM: Json = {kind: 'Elicitation', options: [], answer: {content: '{"a":1}'}, answeredBy: 'alice'};
export const CORRECTED = {content: '{"a":2}'};

/** Refused in the same words whether names are stamped or not. */
export const ROBOT_FOR_PERSON: Write = {
  state: 'a service account answers a question for a person',
  who: 'robot',
  kind: 'Question',
  before: {to: 'Human'},
  patch: {spec: {answer: ANSWER}},
  says: `this question is for a person (spec.to: Human); ${ROBOT} is a service account`,
};

/** Writes of Questions: who answers, who corrects, and who asks. */
export const QUESTION_WRITES: readonly Write[] = [
  {
    state: 'a person answers',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER}},
    says: '',
    gives: {answer: ANSWER, answeredBy: 'alice'},
  },
  {
    state: 'a person answers in the name of another',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER, answeredBy: 'bob'}},
    says: 'spec.answeredBy must be alice, who answers; leave it out and it is filled in',
  },
  {
    state: 'the platform answers for a person',
    who: 'platform',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER, answeredBy: 'bob'}},
    says: '',
    gives: {answeredBy: 'bob'},
  },
  {
    state: 'a service account answers a question for the owner',
    who: 'robot',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER}},
    says: '',
    gives: {answeredBy: ROBOT},
  },
  ROBOT_FOR_PERSON,
  {
    state: 'a service account makes a question for a person one for the owner, and answers it',
    who: 'robot',
    kind: 'Question',
    before: {to: 'Human'},
    patch: {spec: {to: 'Owner', answer: ANSWER}},
    says: 'The Question "OBJECT" is invalid: spec.to: Forbidden: to is immutable',
  },
  {
    state: 'a person corrects its own answer',
    who: 'alice',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answer: CORRECTED}},
    says: '',
    gives: {answer: CORRECTED, answeredBy: 'alice'},
  },
  {
    state: 'a person corrects the answer of another, and is who answered then',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answer: CORRECTED}},
    says: '',
    gives: {answer: CORRECTED, answeredBy: 'bob'},
  },
  {
    state: 'a person corrects an answer in the name of a third',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answer: CORRECTED, answeredBy: 'mallory'}},
    says: 'spec.answeredBy must be bob, who answers; leave it out and it is filled in',
  },
  {
    state: 'a person takes over an answer that does not fit, and leaves it as it is',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answeredBy: 'bob'}},
    says: 'The Question "OBJECT" is invalid: spec.answeredBy: Forbidden: answeredBy can be set once and not changed, unless answer changes with it',
  },
  {
    state: 'a service account corrects the answer to a question for a person',
    who: 'robot',
    kind: 'Question',
    before: {...FORM, to: 'Human'},
    status: MISFIT,
    patch: {spec: {answer: CORRECTED}},
    says: `this question is for a person (spec.to: Human); ${ROBOT} is a service account`,
  },
  {
    state: 'a person says that the answer of another does not fit',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    patch: {status: MISFIT},
    subresource: 'status',
    says: 'status is written by the platform only; change spec instead',
  },
  {
    state: 'a person claims the answer before anybody gives one',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answeredBy: 'alice'}},
    says: 'spec.answeredBy is set together with spec.answer, by whoever answers; leave it as it is',
  },
  {
    state: 'a person takes a question away from its session, or gives it to another',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {metadata: {ownerReferences: [{apiVersion: 'carrel.dev/v1alpha1', kind: 'Session', name: 'x', uid: 'u'}]}},
    says: 'metadata.ownerReferences of a Question says whose it is; it is written by the platform only, leave it as it is',
  },
  {state: 'a person asks a question in the place of an agent', who: 'alice', kind: 'Question', says: NO_QUESTION},
  {
    state: 'a service account makes a copy of a question with an answer in it',
    who: 'robot',
    kind: 'Question',
    spec: {requestId: '1-1', answer: ANSWER},
    says: NO_QUESTION,
  },
];
