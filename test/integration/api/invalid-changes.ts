import type {Json} from '../../../src/api/json.ts';
import {type KindName, MISFIT} from './examples.ts';

/** A change that must be refused: from one spec and status to another spec or status. */
export interface InvalidChange {
  readonly kind: KindName;
  readonly state: string;
  readonly spec?: Json;
  readonly status?: Json;
  /** Merge patch of the object, or of its status. */
  readonly patch: Json;
  readonly subresource?: 'status';
  readonly says: string;
}

const FORM: Json = {kind: 'Elicitation', options: [], answer: {content: '{"a":1}'}, answeredBy: 'alice'};
const CORRECTED: Json = {answer: {content: '{"a":2}'}};
const ANSWERED_ONCE =
  'spec.answer: Forbidden: answer can be set once and not changed, unless the question is open and has the condition AnswerInvalid';

/** Changes that pass although something like them is refused below. */
export const ALLOWED_CHANGES: readonly Omit<InvalidChange, 'says'>[] = [
  {
    kind: 'Question',
    state: 'an answer that does not fit, corrected',
    spec: FORM,
    status: MISFIT,
    patch: {spec: CORRECTED},
  },
  {
    kind: 'Question',
    state: 'an answer that does not fit, corrected by somebody else',
    spec: FORM,
    status: MISFIT,
    patch: {spec: {...CORRECTED, answeredBy: 'bob'}},
  },
  {
    kind: 'Question',
    state: 'an answer that does not fit, corrected by nobody who is named',
    spec: FORM,
    status: MISFIT,
    patch: {spec: {...CORRECTED, answeredBy: null}},
  },
];

const ENDED = {phase: 'Completed'};

export const INVALID_CHANGES: readonly InvalidChange[] = [
  {
    kind: 'Session',
    state: 'another agent',
    patch: {spec: {agent: 'other'}},
    says: 'The Session "x" is invalid: spec.agent: Forbidden: agent is immutable',
  },
  {
    kind: 'Session',
    state: 'a prompt added later',
    patch: {spec: {prompt: 'now this'}},
    says: 'The Session "x" is invalid: spec.prompt: Forbidden: prompt is immutable',
  },
  {
    kind: 'Session',
    state: 'a prompt taken away',
    spec: {prompt: 'first'},
    patch: {spec: {prompt: null}},
    says: 'The Session "x" is invalid: spec.prompt: Forbidden: prompt is immutable',
  },
  {
    kind: 'Session',
    state: 'lineage added later',
    patch: {spec: {requester: {session: 'p', uid: 'u'}}},
    says: 'The Session "x" is invalid: spec.requester: Forbidden: requester is immutable',
  },
  {
    kind: 'Session',
    state: 'a lower restart',
    spec: {restart: 2},
    patch: {spec: {restart: 1}},
    says: 'The Session "x" is invalid: spec.restart: Invalid value: restart can only be raised',
  },
  {
    kind: 'Session',
    state: 'a life after Closed',
    status: {phase: 'Closed'},
    patch: {status: {phase: 'Idle'}},
    subresource: 'status',
    says: 'The Session "x" is invalid: status.phase: Forbidden: a terminal phase (Closed) never changes',
  },
  {
    kind: 'Session',
    state: 'a status taken away after Closed',
    status: {phase: 'Closed'},
    patch: {status: null},
    subresource: 'status',
    says: 'The Session "x" is invalid: status.phase: Forbidden: a terminal phase (Closed) never changes',
  },
  {
    kind: 'Turn',
    state: 'another session',
    patch: {spec: {session: 'other'}},
    says: 'The Turn "x" is invalid: spec.session: Forbidden: session is immutable',
  },
  {
    kind: 'Turn',
    state: 'a milder stop',
    spec: {stop: 'Interrupt'},
    patch: {spec: {stop: 'Withdraw'}},
    says: 'The Turn "x" is invalid: spec.stop: Forbidden: stop can be set once and not changed; only Withdraw may be followed by Interrupt',
  },
  {
    kind: 'Turn',
    state: 'a stop taken back',
    spec: {stop: 'Withdraw'},
    patch: {spec: {stop: null}},
    says: 'The Turn "x" is invalid: spec.stop: Forbidden: stop can be set once and not changed; only Withdraw may be followed by Interrupt',
  },
  {
    kind: 'Turn',
    state: 'other input while it runs',
    status: {phase: 'Running'},
    patch: {spec: {input: [{text: 'no, this'}]}},
    says: 'The Turn "x" is invalid: spec.input: Forbidden: input is frozen once the turn is no longer queued; create another turn',
  },
  {
    kind: 'Turn',
    state: 'a second end',
    status: ENDED,
    patch: {status: {phase: 'Failed'}},
    subresource: 'status',
    says: 'The Turn "x" is invalid: status.phase: Forbidden: a terminal phase (Completed, Failed, Interrupted, Cancelled) never changes',
  },
  {
    kind: 'Turn',
    state: 'a status taken away after its end',
    status: ENDED,
    patch: {status: null},
    subresource: 'status',
    says: 'The Turn "x" is invalid: status.phase: Forbidden: a terminal phase (Completed, Failed, Interrupted, Cancelled) never changes',
  },
  {
    kind: 'Question',
    state: 'another session',
    patch: {spec: {session: 'other'}},
    says: 'The Question "x" is invalid: spec.session: Forbidden: session is immutable',
  },
  {
    kind: 'Question',
    state: 'another turn',
    patch: {spec: {turn: 'other'}},
    says: 'The Question "x" is invalid: spec.turn: Forbidden: turn is immutable',
  },
  {
    kind: 'Question',
    state: 'another kind',
    patch: {spec: {kind: 'Permission'}},
    says: 'The Question "x" is invalid: spec.kind: Forbidden: kind is immutable',
  },
  {
    kind: 'Question',
    state: 'another text',
    patch: {spec: {text: 'May I delete everything?'}},
    says: 'The Question "x" is invalid: spec.text: Forbidden: text is immutable',
  },
  {
    kind: 'Question',
    state: 'other options',
    patch: {spec: {options: [{id: 'b', label: 'B'}]}},
    says: 'The Question "x" is invalid: spec.options: Forbidden: options is immutable',
  },
  {
    kind: 'Question',
    state: 'a form added later',
    patch: {spec: {schema: '{}'}},
    says: 'The Question "x" is invalid: spec.schema: Forbidden: schema is immutable',
  },
  {
    kind: 'Question',
    state: 'another request',
    patch: {spec: {requestId: '7'}},
    says: 'The Question "x" is invalid: spec.requestId: Forbidden: requestId is immutable',
  },
  {
    kind: 'Question',
    state: 'more time',
    patch: {spec: {expiresAt: '2030-01-01T00:00:00Z'}},
    says: 'The Question "x" is invalid: spec.expiresAt: Forbidden: expiresAt is immutable',
  },
  {
    kind: 'Question',
    state: 'others who may answer',
    spec: {to: 'Human'},
    patch: {spec: {to: 'Owner'}},
    says: 'The Question "x" is invalid: spec.to: Forbidden: to is immutable',
  },
  {
    kind: 'Question',
    state: 'a second answer',
    spec: {answer: {option: 'a'}},
    patch: {spec: {answer: {option: null, text: 'B'}}},
    says: `The Question "x" is invalid: ${ANSWERED_ONCE}`,
  },
  {
    kind: 'Question',
    state: 'a second answer before anybody judged the first',
    spec: FORM,
    status: {phase: 'Open'},
    patch: {spec: CORRECTED},
    says: `The Question "x" is invalid: ${ANSWERED_ONCE}`,
  },
  {
    kind: 'Question',
    state: 'an answer that does not fit, corrected after the question expired',
    spec: FORM,
    status: {...MISFIT, phase: 'Expired'},
    patch: {spec: CORRECTED},
    says: `The Question "x" is invalid: ${ANSWERED_ONCE}`,
  },
  {
    kind: 'Question',
    state: 'an answer that does not fit, taken away',
    spec: FORM,
    status: MISFIT,
    patch: {spec: {answer: null}},
    says: `The Question "x" is invalid: ${ANSWERED_ONCE}`,
  },
  {
    kind: 'Question',
    state: 'a correction that brings its own leave',
    spec: FORM,
    status: {phase: 'Open'},
    patch: {spec: CORRECTED, status: MISFIT},
    says: `The Question "x" is invalid: ${ANSWERED_ONCE}`,
  },
  {
    kind: 'Question',
    state: 'another person behind an answer that does not fit',
    spec: FORM,
    status: MISFIT,
    patch: {spec: {answeredBy: 'bob'}},
    says: 'The Question "x" is invalid: spec.answeredBy: Forbidden: answeredBy can be set once and not changed, unless answer changes with it',
  },
  {
    kind: 'Question',
    state: 'another person behind the answer',
    spec: {answer: {option: 'a'}, answeredBy: 'alice'},
    patch: {spec: {answeredBy: 'bob'}},
    says: 'The Question "x" is invalid: spec.answeredBy: Forbidden: answeredBy can be set once and not changed, unless answer changes with it',
  },
  {
    kind: 'Question',
    state: 'an answer after it expired',
    status: {phase: 'Expired'},
    patch: {spec: {answer: {option: 'a'}}},
    says: 'The Question "x" is invalid: spec.answer: Forbidden: the question is no longer open',
  },
  {
    kind: 'Question',
    state: 'a phase after the last one',
    status: {phase: 'Answered'},
    patch: {status: {phase: 'Open'}},
    subresource: 'status',
    says: 'The Question "x" is invalid: status.phase: Forbidden: a terminal phase (Answered, Expired, Withdrawn) never changes',
  },
];
