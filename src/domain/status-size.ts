import type {Condition} from '../api/kube-object.ts';
import type {RunnerStatus, SessionStatus, TurnStatus} from '../api/v1alpha1/index.ts';

/** Most bytes of the status of any object of ours, as JSON. The schemas count characters, which have up to four bytes each. */
export const MAX_STATUS_BYTES = 16_384;

/** Most bytes of the message of one condition. */
export const MAX_MESSAGE_BYTES = 1_024;

/** Share of a Session's status that is the runner's: two processes write it, so each has room of its own. */
const RUNNER_BYTES = 5_120;
const SESSION_BYTES = MAX_STATUS_BYTES - RUNNER_BYTES;

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '', 'utf8');
}

/** The start of a text that takes at most `max` bytes as JSON, quotes not counted; never half a character. */
export function cutBytes(text: string, max: number): string {
  if (bytesOf(text) <= max) return text;
  const dots = max >= 16 ? '...' : '';
  let room = max - dots.length;
  let kept = '';
  for (const character of text) {
    room -= bytesOf(character);
    if (room < 0) break;
    kept += character;
  }
  return kept + dots;
}

function bytesOf(text: string): number {
  return jsonBytes(text) - 2;
}

// From what says least to what says most. Notes go first and all the way: what they lost is lost at the next look too, and a
// look that changes nothing must come to the same conditions.
const LEVELS = [
  {note: 256, ready: 1_024, other: 1_024},
  {note: 96, ready: 1_024, other: 1_024},
  {note: 0, ready: 1_024, other: 1_024},
  {note: 0, ready: 1_024, other: 384},
  {note: 0, ready: 768, other: 128},
  {note: 0, ready: 256, other: 32},
] as const;

/** The status of a Session within its size: texts get shorter where all of them together do not fit. The runner's part stays. */
export function sizedSession(status: SessionStatus): SessionStatus {
  const {runner: _runner, ...own} = status;
  const form = (level: (typeof LEVELS)[number]) => ({
    ...own,
    ...(own.timeline === undefined ? {} : {timeline: own.timeline.map((step) => withNote(step, level.note))}),
    ...(own.conditions === undefined ? {} : {conditions: own.conditions.map((c) => shortened(c, level))}),
  });
  return {...status, ...firstThatFits(LEVELS, form, SESSION_BYTES)};
}

/** The form of the first level that fits, or of the last; each is made only if the one before was too large. */
function firstThatFits<L, F>(levels: readonly [L, ...L[]], form: (level: L) => F, max: number): F {
  let made = form(levels[0]);
  for (const level of levels.slice(1)) {
    if (jsonBytes(made) <= max) break;
    made = form(level);
  }
  return made;
}

type TimelineStep = NonNullable<SessionStatus['timeline']>[number];

function withNote({note, ...step}: TimelineStep, max: number): TimelineStep {
  return note === undefined || max === 0 ? step : {...step, note: cutBytes(note, max)};
}

function shortened<C extends Condition>(condition: C, {ready, other}: (typeof LEVELS)[number]): C {
  return {...condition, message: cutBytes(condition.message, condition.type === 'Ready' ? ready : other)};
}

const FINDING_BYTES = [512, 256, 64] as const;
const CAPABILITIES_BYTES = 640;

/** What a runner reported, within its share of the Session's status. */
export function sizedRunner(status: RunnerStatus): RunnerStatus {
  const {message, reason, agent, findings} = status;
  const sized: RunnerStatus = {
    ...status,
    ...(reason === undefined ? {} : {reason: cutBytes(reason, 64)}),
    ...(message === undefined ? {} : {message: cutBytes(message, MAX_MESSAGE_BYTES)}),
    ...(agent === undefined ? {} : {agent: sizedAgent(agent)}),
  };
  // The name of the conversation is never cut: another name is another conversation.
  if (jsonBytes(sized.agentSessionId ?? '') > 514) delete sized.agentSessionId;
  if (findings === undefined) return sized;
  const form = (bytes: number) => ({
    ...sized,
    findings: findings.map((f) => ({
      type: cutBytes(f.type, 64),
      reason: cutBytes(f.reason, 64),
      message: cutBytes(f.message, bytes),
    })),
  });
  return firstThatFits(FINDING_BYTES, form, RUNNER_BYTES);
}

function sizedAgent(agent: NonNullable<RunnerStatus['agent']>): NonNullable<RunnerStatus['agent']> {
  const {name, version, capabilities} = agent;
  let room = CAPABILITIES_BYTES;
  const kept = capabilities?.filter((c) => {
    room -= jsonBytes(c) + 1;
    return room >= 0;
  });
  return {
    ...agent,
    ...(name === undefined ? {} : {name: cutBytes(name, 128)}),
    ...(version === undefined ? {} : {version: cutBytes(version, 64)}),
    ...(kept === undefined ? {} : {capabilities: kept}),
  };
}

const RESPONSE_BYTES = 8_192;
// As JSON, where each quote and line end takes two bytes.
const RESPONSE_JSON_BYTES = 10_240;

/** The end of a turn within the size of its status: 8 KiB of the last words; the whole is in the archive. */
export function sizedEnd(status: TurnStatus): TurnStatus {
  const {response, error} = status;
  return {
    ...status,
    ...(response === undefined ? {} : {response: lastWords(response)}),
    ...(error === undefined
      ? {}
      : {error: {code: cutBytes(error.code, 64), message: cutBytes(error.message, MAX_MESSAGE_BYTES)}}),
  };
}

function lastWords(text: string): string {
  if (Buffer.byteLength(text, 'utf8') <= RESPONSE_BYTES && bytesOf(text) <= RESPONSE_JSON_BYTES) return text;
  let [raw, json] = [RESPONSE_BYTES - 3, RESPONSE_JSON_BYTES - 3];
  const kept: string[] = [];
  for (const character of [...text].reverse()) {
    raw -= Buffer.byteLength(character, 'utf8');
    json -= bytesOf(character);
    if (raw < 0 || json < 0) break;
    kept.push(character);
  }
  return `…${kept.reverse().join('')}`;
}
