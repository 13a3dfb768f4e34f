import {z} from 'zod';

/**
 * Runner API: the protocol between the runner in a session pod and the gateway, `/runner/v1`. Every request carries the
 * token of audience `carrel-runner`; pod UID and Session come from the token review, never from a body.
 *
 * `GET /runner/v1/desired` streams NDJSON lines, each a whole `Desired` (level-triggered: the latest line is the truth)
 * or `{"ping":true}` each 25 s. `POST /runner/v1/events` takes an `EventBatch` and answers `Acked`.
 * `GET /runner/v1/context` answers `Context`.
 * Status codes: 425 the pod is not bound to its Session yet, try again; 410 fenced, stop; 401 token refused;
 * 503 no verdict now, try again; 409 `gap` with `acked`: the archive lost what came after it, begin a new epoch. Any other
 * 4xx is about what was sent, and will be said again.
 */

const Part = z.object({text: z.string()});

/** What the pod shall be doing now. */
export const Desired = z.object({
  podUid: z.string(),
  attempt: z.number().int(),
  /** Rises with every change of the document; a runner ignores a lower one. */
  generation: z.number().int(),
  session: z.object({name: z.string(), uid: z.string(), goal: z.string().optional()}),
  /** The conversation of an earlier pod or epoch, as the agent named it. */
  resume: z.object({agentSessionId: z.string()}).optional(),
  /** The turn that runs. The runner takes each turn UID at most once. */
  turn: z
    .object({
      name: z.string(),
      uid: z.string(),
      sequence: z.number().int(),
      author: z.string().optional(),
      input: z.array(Part),
      /** Said to the agent before the input: an interrupted turn before, answers that came late. */
      preface: z.array(z.string()),
    })
    .optional(),
  /** Stop of that turn, and of no other. */
  stop: z.object({turnUid: z.string(), by: z.string().optional()}).optional(),
  /** Answers to questions of this pod that are not acknowledged yet. */
  answers: z.array(
    z.object({
      question: z.string(),
      uid: z.string(),
      requestId: z.string(),
      outcome: z.enum(['Answered', 'Expired', 'Withdrawn']),
      option: z.string().optional(),
      text: z.string().optional(),
      content: z.string().optional(),
    }),
  ),
  /**
   * Request ids of the turn whose Questions wait for an answer. Absent where that is not known: with no turn, from a replica
   * whose copy may be old, from an earlier release. A runner believes an absence only in the first document of a stream, or
   * of a Question that it was told of before, and only after 5 s: a replica may be behind, or hear nothing of the API any more.
   */
  questions: z.array(z.string()).optional(),
  /** Stop: end the agent when no turn runs, and exit; the pod is going away. */
  desired: z.enum(['Run', 'Stop']),
});
export type Desired = z.infer<typeof Desired>;

/** A line of the desired stream. */
export const DesiredLine = z.union([Desired, z.object({ping: z.literal(true)})]);
export type DesiredLine = z.infer<typeof DesiredLine>;

/** Kinds of transcript records. `data` is what ACP said, after merging chunks; unknown kinds are kept raw. */
export const RecordKind = z.enum([
  'prompt',
  'message',
  'thought',
  'tool_call',
  'plan',
  'question',
  'answer',
  'notice',
  'turn_started',
  'turn_finished',
  'agent_started',
  'agent_exited',
  'raw',
]);
export type RecordKind = z.infer<typeof RecordKind>;

/** One record of the transcript. */
export const TranscriptRecord = z.object({
  time: z.string(),
  kind: RecordKind,
  turn: z.object({uid: z.string(), sequence: z.number().int()}).optional(),
  /** Text of prompt, message, thought, notice, question, answer. At most 256 KiB; longer ones are split. */
  text: z.string().max(262_144).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});
export type TranscriptRecord = z.infer<typeof TranscriptRecord>;

const Finished = z.object({
  type: z.literal('turnFinished'),
  turnUid: z.string(),
  turnName: z.string(),
  /** Cancelled: stopped before the agent was given it. */
  phase: z.enum(['Completed', 'Failed', 'Interrupted', 'Cancelled']),
  stopReason: z.enum(['EndTurn', 'MaxTokens', 'MaxRequests', 'Refusal', 'Cancelled']).optional(),
  response: z.string().max(8192).optional(),
  error: z.object({code: z.string().max(64), message: z.string().max(1024)}).optional(),
  usage: z
    .object({
      inputTokens: z.number().int().optional(),
      outputTokens: z.number().int().optional(),
      requests: z.number().int().optional(),
    })
    .optional(),
  finishedAt: z.string(),
});

const Asked = z.object({
  type: z.literal('question'),
  turnUid: z.string(),
  turnName: z.string(),
  /** Never used twice for one turn, whatever the epoch: it names the Question. */
  requestId: z.string().max(128),
  kind: z.enum(['Permission', 'Elicitation']),
  text: z.string().max(8192),
  options: z
    .array(z.object({id: z.string().max(128), label: z.string().max(512), kind: z.string().max(64).optional()}))
    .max(32)
    .optional(),
  schema: z.string().max(16384).optional(),
  expiresAt: z.string(),
});

/** What the runner tells of its start and of its agent; becomes `Session.status.runner`. */
const Report = z.object({
  type: z.literal('report'),
  state: z.enum(['Starting', 'Ready', 'Restarting', 'Failed', 'Exited']),
  reason: z.string().max(64).optional(),
  message: z.string().max(1024).optional(),
  agentSessionId: z.string().max(512).optional(),
  conversation: z.enum(['New', 'Resumed', 'Loaded', 'Rebuilt']).optional(),
  agent: z
    .object({
      name: z.string().max(128).optional(),
      version: z.string().max(64).optional(),
      protocolVersion: z.number().int().optional(),
      capabilities: z.array(z.string().max(64)).max(32).optional(),
    })
    .optional(),
  exit: z
    .object({
      code: z.number().int().optional(),
      signal: z.string().max(16).optional(),
      outOfMemory: z.boolean().optional(),
    })
    .optional(),
  findings: z
    .array(z.object({type: z.string().max(64), reason: z.string().max(64), message: z.string().max(512)}))
    .max(8)
    .optional(),
});

/**
 * One event of the runner. `record` goes to the archive as it is; the others change objects, and what people shall read of
 * them is a `record` of its own. Only the end of a turn is always archived, also when the runner sent no record of it.
 */
export const RunnerEvent = z.discriminatedUnion('type', [
  z.object({type: z.literal('record'), record: TranscriptRecord}),
  Report,
  Finished,
  Asked,
  z.object({type: z.literal('delivered'), question: z.string(), questionUid: z.string(), at: z.string()}),
  z.object({type: z.literal('withdrawn'), requestId: z.string(), turnUid: z.string()}),
]);
export type RunnerEvent = z.infer<typeof RunnerEvent>;

/** Events `from`, `from + 1`, ... of this epoch; the gateway acknowledges the highest that is stored. */
export const EventBatch = z.object({
  podUid: z.string(),
  epoch: z.number().int().min(1),
  from: z.number().int().min(1),
  events: z.array(RunnerEvent).max(256),
});
export type EventBatch = z.infer<typeof EventBatch>;

/** Milliseconds for which a request of the agent waits for an answer, from when it asked. */
export const QUESTION_WAIT_MS = 3_600_000;

/** A request that has no Question, so that nobody will answer, and why. */
const RefusedRequest = z.object({requestId: z.string(), why: z.string()});
export type RefusedRequest = z.infer<typeof RefusedRequest>;

/** Highest event number that is stored for good, and what was refused of the batch. */
export const Acked = z.object({acked: z.number().int().min(0), refused: z.array(RefusedRequest).optional()});
export type Acked = z.infer<typeof Acked>;

/** The end of the transcript, for rebuilding a conversation. */
export const Context = z.object({records: z.array(TranscriptRecord)});
export type Context = z.infer<typeof Context>;
