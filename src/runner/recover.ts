import type {TurnCode} from '../domain/turn/codes.ts';
import type {Reporter} from './reporter.ts';
import type {StateFile} from './state.ts';

/**
 * Raises the epoch, and ends what the runner before left in flight: the shim killed the agent with the connection, so
 * nobody knows how far the turn came, and it is never replayed.
 */
export function recover(state: StateFile, reporter: Reporter): void {
  const {inFlight, questions} = state.get();
  for (const question of questions) reporter.event({type: 'withdrawn', ...question});
  if (inFlight !== undefined) {
    const error = {
      code: 'outcome_unknown' satisfies TurnCode,
      message: 'the runner was restarted while the agent worked on the turn; look at what it did before asking again',
    };
    const of = {turnUid: inFlight.uid, turnName: inFlight.name};
    reporter.event({type: 'turnFinished', ...of, phase: 'Failed', error, finishedAt: reporter.time()});
  }
  state.update(({inFlight: _ended, ...saved}) => ({...saved, questions: []}));
}
