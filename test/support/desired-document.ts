import type {Desired} from '../../src/api/wire/runner.ts';

/** What a gateway wants of pod `p` of session `s`: nothing but that it runs. */
export function desiredDocument(change: Partial<Desired> = {}): Desired {
  const session = {name: 's', uid: 'u'};
  return {podUid: 'p', attempt: 1, generation: 1, session, answers: [], desired: 'Run', ...change};
}
