import {z} from 'zod';
import type {SessionObject} from '../api/v1alpha1/index.ts';
import type {Caller, Channel, SessionCaller} from '../domain/access/caller.ts';
import type {BaseGroup, Breadth, CompositeGroup, Effect, Grouped} from '../domain/access/groups.ts';
import type {Need} from '../domain/access/need.ts';
import type {Archive} from '../domain/archive.ts';
import {Refusal} from '../domain/refusal.ts';
import type {During} from './progress.ts';
import type {Store} from './store.ts';

/** The domain as tools see it. Namespace and caller come from the credential, never from an argument. */
export interface ToolCall<I> {
  readonly input: I;
  readonly caller: Caller;
  readonly namespace: string;
  readonly channel: Channel;
  readonly store: Store;
  readonly archive: Pick<Archive, 'read'>;
  /** Ask whether the caller may do something more; throws a Refusal when not. */
  readonly require: (need: Need) => Promise<void>;
  /** The same as a question; always false for a session, which has no rights of a user. */
  readonly may: (need: Need) => Promise<boolean>;
  /** The Session of that name if the caller may see it; throws `session_not_found`. */
  readonly session: (name: string) => SessionObject;
  /** What the calling connection may use. */
  readonly allowedTools: ReadonlySet<string>;
  /** Tools that these groups would give. */
  readonly toolsOf: (groups: readonly string[]) => ReadonlySet<string>;
  readonly now: Date;
  /** Lower-case letters and digits, at least 14; never the same twice. */
  readonly random: () => string;
  readonly askWaitMs: number;
  readonly signal: AbortSignal;
  /** For work that may take seconds: the caller hears that the call goes on. */
  readonly during: During;
}

/** What one tool file declares. */
export interface ToolSpec<I, O> {
  readonly name: string;
  readonly group: BaseGroup;
  readonly effect: Effect;
  readonly description: string;
  readonly input: z.ZodType<I>;
  readonly output: z.ZodType<O>;
  /** Composite groups in which the tool appears too; with `input`, narrowed to that schema. */
  readonly composites?: Partial<Record<CompositeGroup, {readonly input?: z.ZodType<I>; readonly description?: string}>>;
  /** Arguments that clients know from elsewhere and this version does not take: name -> what to do instead. */
  readonly untaken?: Readonly<Record<string, string>>;
  /** Only sessions can call it. */
  readonly sessionOnly?: boolean;
  /** Rights of a Kubernetes user for this call. */
  needs(input: I | undefined): readonly Need[];
  /** Rights of which any one makes the tool worth listing; without it, all that `needs` says without an input. */
  listedFor?: readonly Need[];
  /** The Session that is acted upon; for a session caller it must be itself or a descendant. */
  subject?(input: I): string | undefined;
  handle(call: ToolCall<I>): Promise<O>;
  /** Text for a model; without it the output is sent as pretty JSON (Z-161). */
  render?(output: O): string;
}

/** A call whose arguments have been checked. */
export interface BoundCall {
  readonly needs: readonly Need[];
  readonly subject: string | undefined;
  run(call: Omit<ToolCall<unknown>, 'input'>): Promise<{data: unknown; text: string; structured: boolean}>;
}

/** JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** What a client is told of a tool, beside its name. */
export interface ToolFace {
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Only of tools whose output is sent as data. */
  readonly outputSchema?: ObjectSchema;
}

/** A tool with its types hidden, so that tools of all inputs fit one list. */
export interface Tool extends Grouped {
  readonly sessionOnly: boolean;
  /** Names of arguments that are refused with what to do instead. */
  readonly untaken: readonly string[];
  /** Needs of listing: all of one of these. */
  readonly listNeeds: readonly (readonly Need[])[];
  describe(breadth: Breadth): ToolFace;
  /** Throws `invalid_arguments`, before any code of the tool runs (Z-159). `caller` fills in what its grant fixes. */
  bind(args: unknown, breadth: Breadth, caller: Caller): BoundCall;
}

/** Declare a tool. */
export function defineTool<I, O>(spec: ToolSpec<I, O>): Tool {
  const own = spec.composites?.self_session;
  const narrow = own?.input ?? spec.input;
  const schemas = {whole: schemaOf(spec.input), narrowed: schemaOf(narrow)};
  const sent = spec.render === undefined ? {outputSchema: schemaOf(spec.output)} : {};
  return {
    name: spec.name,
    group: spec.group,
    effect: spec.effect,
    composites: own === undefined ? {} : {self_session: own.input === undefined ? 'whole' : 'narrowed'},
    sessionOnly: spec.sessionOnly ?? false,
    untaken: Object.keys(spec.untaken ?? {}),
    listNeeds: spec.listedFor?.map((need) => [need]) ?? [spec.needs(undefined)],
    describe: (breadth) => ({
      description: breadth === 'narrowed' ? (own?.description ?? spec.description) : spec.description,
      inputSchema: schemas[breadth],
      ...sent,
    }),
    bind(args, breadth, caller) {
      refuseUntaken(spec.untaken ?? {}, args);
      const input = parseArguments(breadth === 'narrowed' ? narrow : spec.input, args ?? {});
      return {
        needs: spec.needs(input),
        subject: spec.subject?.(input) ?? (caller.kind === 'session' ? caller.name : undefined),
        async run(call) {
          const data = await spec.handle({...call, input});
          const text = spec.render?.(data) ?? JSON.stringify(data, undefined, 2);
          return {data, text, structured: spec.render === undefined};
        },
      };
    },
  };
}

/** The session that a tool acts on: the one named, or the calling session itself. */
export function subjectSession(call: ToolCall<{session_id?: string | undefined}>): SessionObject {
  const name = call.input.session_id ?? (call.caller.kind === 'session' ? call.caller.name : undefined);
  if (name === undefined)
    throw new Refusal('invalid_arguments', 'session_id is required: only a session can leave it out, for itself.');
  return call.session(name);
}

/** The calling session; refuses everybody else. */
export function callingSession(caller: Caller): SessionCaller {
  if (caller.kind === 'session') return caller;
  throw new Refusal('session_required', 'Only a session can call this tool: it needs somebody who asks.');
}

/** Schema piece: name of a Session. */
export const sessionId = z
  .string()
  .min(1)
  .max(48)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .optional()
  .describe('Id (name) of the session. A session may leave it out to mean itself.');

// Never ignored in silence: who sends one counts on what it would do.
function refuseUntaken(untaken: Readonly<Record<string, string>>, args: unknown): void {
  if (typeof args !== 'object' || args === null) return;
  const found = Object.entries(untaken).filter(([name]) => Object.hasOwn(args, name));
  if (found.length === 0) return;
  throw new Refusal('unsupported_argument', found.map(([name, instead]) => `${name}: ${instead}`).join(' '));
}

function parseArguments<T>(schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const said = parsed.error.issues.slice(0, 5).map((issue) => {
    const hint = issue.code === 'unrecognized_keys' ? '; remove it and call again' : '';
    return `${issue.path.length === 0 ? 'arguments' : issue.path.join('.')}: ${issue.message}${hint}`;
  });
  throw new Refusal('invalid_arguments', said.join('. '));
}

function schemaOf(schema: z.ZodType): ObjectSchema {
  const {$schema: _, ...rest} = z.toJSONSchema(schema, {io: 'input', target: 'draft-2020-12'});
  return {...rest, type: 'object'};
}
