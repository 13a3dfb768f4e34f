import {z} from 'zod';
import type {SessionObject} from '../../../api/v1alpha1/index.ts';
import {isWithin} from '../../../domain/access/lineage.ts';
import {searchSessions} from '../../../domain/view/search.ts';
import {renderSessionLine} from '../../../domain/view/session.ts';
import {defineTool} from '../../tool.ts';

export default defineTool({
  name: 'quick_search_sessions',
  group: 'sessions',
  effect: 'read',
  description:
    'Finds sessions by words in id, title, agent or notes, newest first. Use it to see whether an earlier start_session whose reply was lost did happen: search for the exact title.',
  input: z.strictObject({
    query: z.string().max(256).optional().describe('Words that must all occur; leave it out to list all.'),
    phase: z
      .enum([
        'Pending',
        'Starting',
        'Idle',
        'Running',
        'NeedsInput',
        'Sleeping',
        'Closing',
        'Closed',
        'Archived',
        'Failed',
      ])
      .optional()
      .describe('Only sessions in this phase.'),
    agent: z.string().max(48).optional().describe('Only sessions of this Agent.'),
    limit: z.int().min(1).max(100).default(20).describe('Sessions shown at most.'),
  }),
  output: z.object({total: z.int(), sessions: z.array(z.custom<SessionObject>().meta({type: 'object'}))}),
  needs: () => [{verb: 'list', resource: 'sessions'}],
  async handle({input, caller, namespace, store, session}) {
    const all = store.sessions(namespace);
    const find = (name: string) => store.session(namespace, name);
    const own = caller.kind === 'session' ? session(caller.name) : undefined;
    const visible = own === undefined ? all : all.filter((s) => isWithin(own, s, find));
    const found = searchSessions(visible, input);
    return {total: found.length, sessions: found.slice(0, input.limit)};
  },
  render({total, sessions}) {
    if (total === 0) return 'No session found.';
    const more = total > sessions.length ? [`${total - sessions.length} more; narrow the search.`] : [];
    return [`${total} found`, '', ...sessions.map(renderSessionLine), ...more].join('\n');
  },
});
