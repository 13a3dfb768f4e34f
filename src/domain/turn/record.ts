import type {SessionObject, TurnObject} from '../../api/v1alpha1/index.ts';
import type {Append} from '../../api/wire/archive.ts';
import type {TurnEnd} from './status.ts';

/**
 * What the archive is told of a turn that the controller ends. The source is the turn itself with one record, so that
 * the append may be repeated until it is known to be stored.
 */
export function endRecord(session: SessionObject, turn: TurnObject, end: TurnEnd): Append {
  return {
    namespace: session.metadata.namespace ?? '',
    session: {name: session.metadata.name, uid: turn.status?.sessionUID ?? end.sessionUid},
    source: `turn/${turn.metadata.uid}`,
    epoch: 0,
    from: 1,
    records: [
      {
        time: end.now.toISOString(),
        kind: 'turn_finished',
        turn: {uid: turn.metadata.uid, sequence: turn.status?.sequence ?? 0},
        text: end.message,
        data: {phase: end.phase, error: {code: end.code, message: end.message}, by: 'controller'},
      },
    ],
  };
}
