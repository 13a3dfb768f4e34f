import {z} from 'zod';
import type {SessionObject} from '../../../api/v1alpha1/index.ts';
import {principalOf} from '../../../domain/access/caller.ts';
import {isWithin} from '../../../domain/access/lineage.ts';
import {idempotencyRecord, madeByFamily} from '../../../domain/change/idempotency.ts';
import {JOBS, jobOf, sayJob} from '../../../domain/change/job.ts';
import {freshSessionName, keyedSessionName} from '../../../domain/change/names.ts';
import {buildSession} from '../../../domain/change/start-session.ts';
import {Refusal} from '../../../domain/refusal.ts';
import {defineTool, sessionId, type ToolCall} from '../../tool.ts';
import {agentNotFound, toolsBeyond} from './agent-choice.ts';

const FAMILY = 'start_session';

const input = z.strictObject({
  agent_root: z.string().min(1).max(48).describe('Name of the Agent to run.'),
  prompt: z.string().max(65_536).optional().describe('First prompt; without it the session is prepared and waits.'),
  title: z.string().max(256).optional().describe('What people read in lists; give one, so that you can search for it.'),
  goal: z.string().max(2048).optional().describe('What the session is to reach; told to the agent with each prompt.'),
  model: z.string().max(128).optional().describe('One of the models that the Agent allows.'),
  parent_session_id: sessionId.describe(
    'Session that the new one belongs to. A session that starts another is its parent by itself.',
  ),
  idempotency_key: z
    .string()
    .min(8)
    .max(256)
    .optional()
    .describe('A fresh random UUID for this start. Repeating the call with the same key returns the first session.'),
});
type Input = z.output<typeof input>;

const listOf = (what: string) =>
  `in this version neither an Agent nor a session has ${what} of its own, so there is nothing to choose; leave it out.`;
const UNTAKEN = {
  mcp_servers: listOf('MCP servers'),
  skills: listOf('skills'),
  plugins: listOf('plugins'),
  hooks: listOf('hooks'),
};

export default defineTool({
  name: 'start_session',
  group: 'sessions',
  effect: 'create',
  description: [
    'Starts a session of an Agent: creates it and queues exactly one job with the prompt.',
    'Pass idempotency_key, a fresh random UUID: then a repeat after a lost reply returns the first session and queues nothing.',
    'Never derive the key from the task, an issue number or the date: the key alone decides, all callers of the namespace share it, and arguments are not compared.',
    'Without a key a retry can start a second session: after an error or time-out do not retry; first search by title with quick_search_sessions.',
  ].join(' '),
  input,
  untaken: UNTAKEN,
  output: z.object({
    session: z.custom<SessionObject>().meta({type: 'object'}),
    replayed: z.boolean(),
    job: z.enum(JOBS),
  }),
  needs: () => [{verb: 'create', resource: 'sessions'}],
  async handle(call) {
    const {session, created} = await start(call);
    const replayed = !created;
    return {session, replayed, job: jobOf(session, replayed)};
  },
  render({session, replayed}) {
    const heading = replayed ? '## Existing Session Returned (idempotency_key matched)' : '## Session Started';
    const {metadata, spec, status} = session;
    const lines = [
      `- ID: ${metadata.name}`,
      `- Agent: ${spec.agent}`,
      `- Phase: ${status?.phase ?? 'Pending'}`,
      `- Agent job: ${sayJob(session, replayed)}`,
    ];
    if (spec.title !== undefined) lines.splice(1, 0, `- Title: ${spec.title}`);
    return [heading, '', ...lines].join('\n');
  },
});

async function start(call: ToolCall<Input>): Promise<{session: SessionObject; created: boolean}> {
  const {input: asked, store, namespace, caller} = call;
  const key = asked.idempotency_key;
  const name = key === undefined ? freshSessionName(asked.agent_root, call.random()) : keyedSessionName(namespace, key);
  // A repeat gets the first session whatever it asks for now, so before anything else is judged; the create decides the races.
  const earlier = store.session(namespace, name) && (await store.liveSession(namespace, name));
  if (earlier !== undefined && earlier.metadata.deletionTimestamp === undefined) {
    await checkReplay(call, earlier);
    return {session: earlier, created: false};
  }
  const agent = store.agent(namespace, asked.agent_root);
  if (agent === undefined) throw await agentNotFound(call, asked.agent_root);
  const parent = await parentFor(call);
  if (caller.kind === 'session') refuseMoreThanOwn(call, agent.spec.groups);
  const manifest = buildSession(asked, {
    name,
    namespace,
    agent,
    owner: ownerFor(call),
    parent,
    startedBy: caller.kind === 'session' ? caller.name : undefined,
    annotations: key === undefined ? undefined : idempotencyRecord(FAMILY, principalOf(caller), {...asked}),
  });
  const {object, created} = await store.createSession(manifest);
  if (!created && key !== undefined) await checkReplay(call, object);
  return {session: object, created: created || key === undefined};
}

/** The first session is returned whatever the arguments are, but only to a caller who may read it. */
async function checkReplay(call: ToolCall<Input>, found: SessionObject): Promise<void> {
  const conflict = new Refusal(
    'idempotency_conflict',
    'This idempotency_key was used for something else; use a fresh random UUID.',
  );
  if (!madeByFamily(found, FAMILY)) throw conflict;
  const {caller} = call;
  if (caller.kind !== 'session')
    return await call.require({verb: 'get', resource: 'sessions', name: found.metadata.name});
  const own = call.session(caller.name);
  if (!isWithin(own, found, (name) => call.store.session(call.namespace, name))) throw conflict;
}

async function parentFor(call: ToolCall<Input>): Promise<SessionObject | undefined> {
  const {caller, input: asked} = call;
  const name = asked.parent_session_id ?? (caller.kind === 'session' ? caller.name : undefined);
  if (name === undefined) return undefined;
  if (caller.kind !== 'session') await call.require({verb: 'get', resource: 'sessions', name});
  return call.session(name);
}

/** A child never has more than its parent. */
function refuseMoreThanOwn(call: ToolCall<Input>, groups: readonly string[]): void {
  const more = toolsBeyond(call, groups);
  if (more.length === 0) return;
  throw new Refusal(
    'forbidden',
    `Agent "${call.input.agent_root}" has tools that this session does not have (${more.join(', ')}); a session can only start sessions with the same tools or fewer.`,
  );
}

/** A session acts for its own owner, everybody else for themselves: whose Session a caller names as parent changes nothing. */
function ownerFor({caller, session}: ToolCall<Input>): string {
  return caller.kind === 'session' ? (session(caller.name).spec.owner ?? principalOf(caller)) : caller.user;
}
