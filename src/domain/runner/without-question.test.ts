import {describe, expect, test} from 'vitest';
import type {Desired} from '../../api/wire/runner.ts';
import {withoutQuestion} from './without-question.ts';

type Seen = Parameters<typeof withoutQuestion>[0];

const turn = {name: 't', uid: 'A', sequence: 1, input: [{text: 'x'}], preface: []};
const answer: Desired['answers'][number] = {question: 'q', uid: 'u', requestId: '1-1', outcome: 'Answered'};
const asked = {requestId: '1-1', turnUid: 'A', acknowledged: true};

describe('a request of the agent has no Question', () => {
  test.each<[string, Partial<Seen>, Partial<typeof asked>, boolean]>([
    ['none waits', {}, {}, true],
    ['another one waits', {questions: ['1-2']}, {}, true],
    ['it waits', {questions: ['1-1']}, {}, false],
    ['it is answered', {answers: [answer]}, {}, false],
    ['another one is answered', {answers: [{...answer, requestId: '1-2'}]}, {}, true],
    ['the gateway does not know which ones wait', {questions: undefined}, {}, false],
    ['the document is about no turn', {turn: undefined}, {}, false],
    ['the document is about another turn', {turn: {...turn, uid: 'B'}}, {}, false],
    ['the gateway has not stored it yet', {}, {acknowledged: false}, false],
  ])('%s', (_state, seen, of, missing) => {
    const gone = withoutQuestion({turn, questions: [], answers: [], ...seen}, [{...asked, ...of}]);
    expect([...gone]).toEqual(missing ? ['1-1'] : []);
  });
});
