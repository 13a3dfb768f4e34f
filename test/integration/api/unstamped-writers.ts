import {MISFIT} from './examples.ts';
import {ANSWER, CORRECTED, FORM, ROBOT_FOR_PERSON} from './question-writers.ts';
import type {Write} from './writers.ts';

/** Writes where nothing stamps names (before Kubernetes 1.36): who leaves them out is not named, and nobody is named by another. */
export const UNSTAMPED: readonly Write[] = [
  {state: 'a person creates a turn without an author', who: 'alice', kind: 'Turn', says: ''},
  {
    state: 'a person states itself as author',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'alice'}},
    says: '',
    gives: {author: {kind: 'Human', name: 'alice'}},
  },
  {
    state: 'a person states another author',
    who: 'alice',
    kind: 'Turn',
    spec: {author: {kind: 'Human', name: 'bob'}},
    says: 'spec.author.name must be alice, who creates the turn; leave spec.author out, then nobody is named',
  },
  {state: 'a person creates a session without an owner', who: 'alice', kind: 'Session', says: ''},
  {
    state: 'a person answers by the command that the question shows',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER}},
    says: '',
    gives: {answer: ANSWER},
  },
  {
    state: 'a person answers in its own name',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER, answeredBy: 'alice'}},
    says: '',
    gives: {answer: ANSWER, answeredBy: 'alice'},
  },
  {
    state: 'a person answers in the name of another',
    who: 'alice',
    kind: 'Question',
    before: {},
    patch: {spec: {answer: ANSWER, answeredBy: 'bob'}},
    says: 'spec.answeredBy must be alice, who answers; leave it out, then nobody is named',
  },
  {
    state: 'a person corrects the answer of another, whose name would stay',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answer: CORRECTED}},
    says: 'spec.answeredBy must be bob, who answers; it names who answered before, so set it in the same patch',
  },
  {
    state: 'a person corrects the answer of another in its own name',
    who: 'bob',
    kind: 'Question',
    before: FORM,
    status: MISFIT,
    patch: {spec: {answer: CORRECTED, answeredBy: 'bob'}},
    says: '',
    gives: {answer: CORRECTED, answeredBy: 'bob'},
  },
  {
    state: 'a person claims the answer of another afterwards',
    who: 'bob',
    kind: 'Question',
    before: {answer: ANSWER},
    patch: {spec: {answeredBy: 'bob'}},
    says: 'spec.answeredBy is set together with spec.answer, by whoever answers; leave it as it is',
  },
  ROBOT_FOR_PERSON,
];
