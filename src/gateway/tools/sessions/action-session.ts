import {z} from 'zod';
import type {SessionObject} from '../../../api/v1alpha1/index.ts';
import {archivePatch, notesPatch, titlePatch} from '../../../domain/change/session-patch.ts';
import {Refusal} from '../../../domain/refusal.ts';
import {defineTool, sessionId, subjectSession, type ToolCall} from '../../tool.ts';
import {followUp} from './follow-up.ts';

const ACTIONS = ['follow_up', 'archive', 'update_notes', 'update_title'] as const;
const SELF_ACTIONS = ['archive', 'update_notes', 'update_title'] as const;

const fields = {
  session_id: sessionId,
  notes: z.string().max(8192).optional().describe('update_notes: the new notes; blank removes them.'),
  title: z.string().max(256).optional().describe('update_title: the new title; blank removes it.'),
};

const input = z.strictObject({
  action: z.enum(ACTIONS).describe('What to do.'),
  ...fields,
  prompt: z.string().max(65_536).optional().describe('follow_up: the message.'),
  force_immediate: z.boolean().optional().describe('follow_up: end the running turn first instead of waiting for it.'),
  goal: z
    .string()
    .max(2048)
    .optional()
    .describe('follow_up: becomes the goal of the session; blank leaves it as it is.'),
  idempotency_key: z
    .string()
    .min(8)
    .max(256)
    .optional()
    .describe('follow_up: a fresh random UUID; a repeat with the same key and message is not delivered twice.'),
});
type Input = z.output<typeof input>;

const output = z.object({
  session: z.string(),
  action: z.enum(ACTIONS),
  outcome: z.string(),
  turn: z.string().optional(),
  replayed: z.boolean().optional(),
});
type Output = z.output<typeof output>;

export default defineTool({
  name: 'action_session',
  group: 'sessions',
  effect: 'update',
  description:
    'Acts on a session. follow_up sends it a message: queued while a turn runs (force_immediate ends that turn first), delivered at once when it is idle, asleep or waiting for input, refused when it failed, is archived or closed. archive puts it away. update_notes and update_title change what people read.',
  input,
  untaken: {
    acting_session_id: 'who acts is known from the credential of the call and cannot be claimed; leave it out.',
  },
  output,
  composites: {
    self_session: {
      input: z.strictObject({action: z.enum(SELF_ACTIONS).describe('What to do.'), ...fields}),
      description:
        'Acts on the session itself: archive puts it away, update_notes and update_title change what people read.',
    },
  },
  needs(asked) {
    const patch = {verb: 'patch', resource: 'sessions', name: asked?.session_id} as const;
    if (asked?.action !== 'follow_up') return [patch];
    return [{verb: 'create', resource: 'turns'}, ...((asked.goal ?? '').trim() === '' ? [] : [patch])];
  },
  listedFor: [
    {verb: 'patch', resource: 'sessions'},
    {verb: 'create', resource: 'turns'},
  ],
  subject: (asked) => asked.session_id,
  async handle(call) {
    const session = subjectSession(call);
    return await ACT[call.input.action](call, session);
  },
  render: ({session, action, outcome, turn, replayed}) =>
    [
      replayed ? '## Existing Turn Returned (idempotency_key matched)' : `## ${action}: ${outcome}`,
      '',
      `- Session: ${session}`,
      ...(turn === undefined ? [] : [`- Turn: ${turn}`]),
      `- Outcome: ${outcome}`,
    ].join('\n'),
});

type Act = (call: ToolCall<Input>, session: SessionObject) => Promise<Output>;

const ACT: Readonly<Record<(typeof ACTIONS)[number], Act>> = {
  async follow_up(call, session) {
    const {prompt, force_immediate, goal, idempotency_key} = call.input;
    if (prompt === undefined || prompt.trim() === '') throw missing('prompt', 'follow_up');
    const sent = await followUp(call, session, {
      text: prompt,
      force: force_immediate ?? false,
      goal,
      key: idempotency_key,
    });
    return {session: session.metadata.name, action: 'follow_up', ...sent};
  },
  async archive(call, session) {
    const patch = archivePatch(session);
    if (patch !== undefined) await call.store.patchSession(session, patch);
    const outcome = patch === undefined ? 'was archived already' : 'archiving; a running turn is let finish';
    return {session: session.metadata.name, action: 'archive', outcome};
  },
  async update_notes(call, session) {
    const {notes} = call.input;
    if (notes === undefined) throw missing('notes', 'update_notes');
    await call.store.patchSession(session, notesPatch(notes));
    return {session: session.metadata.name, action: 'update_notes', outcome: 'updated'};
  },
  async update_title(call, session) {
    const {title} = call.input;
    if (title === undefined) throw missing('title', 'update_title');
    await call.store.patchSession(session, titlePatch(title));
    return {session: session.metadata.name, action: 'update_title', outcome: 'updated'};
  },
};

function missing(field: string, action: string): Refusal {
  return new Refusal('invalid_arguments', `${field} is required for action ${action}.`);
}
