import {z} from 'zod';
import {StoredRecord} from '../../../api/wire/archive.ts';
import {archived} from '../../../domain/archive.ts';
import {renderTranscript} from '../../../domain/view/transcript.ts';
import {defineTool, sessionId, subjectSession} from '../../tool.ts';

export default defineTool({
  name: 'get_transcript_archive',
  group: 'sessions',
  effect: 'read',
  description:
    'Reads the transcript of a session from the archive, page by page, oldest first; also after its pod is gone. Pass next of one page as after of the following.',
  input: z.strictObject({
    session_id: sessionId,
    after: z.int().min(0).default(0).describe('Number of the last record that you have.'),
    limit: z.int().min(1).max(500).default(100).describe('Records of a page at most.'),
    turn_uid: z.string().max(64).optional().describe('Only records of this turn.'),
  }),
  output: z.object({session: z.string(), records: z.array(StoredRecord), next: z.int().optional()}),
  needs: (input) => [{verb: 'get', resource: 'sessions', subresource: 'transcript', name: input?.session_id}],
  subject: (input) => input.session_id,
  async handle(call) {
    const session = subjectSession(call);
    const {after, limit, turn_uid} = call.input;
    const query = {namespace: call.namespace, sessionUid: session.metadata.uid, after, limit, turnUid: turn_uid};
    const page = await archived(() => call.archive.read(query, call.signal));
    return {session: session.metadata.name, ...page};
  },
  render({session, records, next}) {
    const more = next === undefined ? 'End of the transcript.' : `More: call again with after: ${next}.`;
    return [`## Transcript of ${session}`, records.length === 0 ? 'No records.' : renderTranscript(records), more].join(
      '\n\n',
    );
  },
});
