import {z} from 'zod';
import {treeOf} from '../../../domain/view/hierarchy.ts';
import {humanMessages} from '../../../domain/view/human-messages.ts';
import {renderSession, type SessionView} from '../../../domain/view/session.ts';
import {defineTool, sessionId, subjectSession} from '../../tool.ts';

export default defineTool({
  name: 'get_session',
  group: 'sessions',
  effect: 'read',
  description:
    'Shows one session: what it is, where it stands and why, its place in the tree of sessions and what people have said in that tree. The sections "Session Hierarchy" and "Human Messages" are always there, explicitly empty where there is nothing.',
  input: z.strictObject({
    session_id: sessionId,
    include_turns: z.boolean().default(false).describe('Also list its turns with their outcome.'),
    include_questions: z.boolean().default(false).describe('Also list what it has asked.'),
  }),
  output: z.custom<SessionView>().meta({type: 'object'}),
  composites: {self_session: {}},
  needs: (input) => [{verb: 'get', resource: 'sessions', name: input?.session_id}],
  subject: (input) => input.session_id,
  async handle(call) {
    const session = subjectSession(call);
    const {store, namespace, input} = call;
    const tree = treeOf(session, (name) => store.session(namespace, name), store.children);
    const turns = tree.nodes.flatMap((node) => store.turns(namespace, node.session.metadata.name));
    return {
      session,
      tree,
      messages: humanMessages(turns, session.metadata.name),
      ...(input.include_turns ? {turns: store.turns(namespace, session.metadata.name)} : {}),
      ...(input.include_questions ? {questions: store.questions(namespace, session.metadata.name)} : {}),
    };
  },
  render: renderSession,
});
