import {type Desired, QUESTION_WAIT_MS, type RefusedRequest, type RunnerEvent} from '../api/wire/runner.ts';
import {
  type Answer,
  type ElicitationReply,
  elicitationReply,
  namesNone,
  type Option,
  type PermissionReply,
  permissionReply,
} from '../domain/runner/answer.ts';
import {cleanText, head} from '../domain/runner/clean.ts';
import {ABSENT_FOR} from '../domain/runner/next-step.ts';
import {withoutQuestion} from '../domain/runner/without-question.ts';
import type {ElicitationAsked, PermissionAsked} from './acp.ts';
import type {RecordTurn, Reporter} from './reporter.ts';
import type {StateFile} from './state.ts';

/** Milliseconds that a question of the agent holds the pod; then the agent's own reject option is chosen. */
const OPEN_FOR = QUESTION_WAIT_MS;
/** Milliseconds that the controller is given to say first that a question expired. */
const EXPIRY_GRACE = 5_000;
const MAX_OPEN = 32;
/** Longest text of a question. */
const MAX_SHOWN = 8_192;
/** Brackets in an input that is shown indented. */
const MAX_INDENTED = 256;

/** The turn in which an agent asks. */
export type AskingTurn = {uid: string; name: string; record: RecordTurn};

type Asked = {requestId: string; turn: AskingTurn; event: RunnerEvent};
type Open = Asked & {
  settle: (answer: Answer | 'expired' | 'withdrawn') => void;
  /** A document named it: who leaves it out later has seen it go. */
  named?: boolean;
  /** Runs while the desired document says that it has no Question. */
  absent?: NodeJS.Timeout | undefined;
};

/** Questions of the agent that wait for an answer. */
export class Questions {
  private readonly reporter: Reporter;
  private readonly state: StateFile;
  private readonly open = new Map<string, Open>();
  /** Answers that were handed over: they stay in the desired document until the gateway knows. */
  private readonly delivered = new Set<string>();
  private count = 0;

  constructor(reporter: Reporter, state: StateFile) {
    this.reporter = reporter;
    this.state = state;
  }

  async permission(
    turn: AskingTurn | undefined,
    asked: PermissionAsked & {known: Record<string, unknown>},
    cancelled: AbortSignal,
  ): Promise<PermissionReply> {
    // Ids of an agent may be of any length: what goes out are ids that surely fit.
    const options = asked.options.slice(0, 32).map((option, index): Option & {agents: string} => ({
      id: /^[\w.:-]{1,128}$/.test(option.optionId) ? option.optionId : `option-${index}`,
      label: head(cleanText(option.name || option.optionId), 512),
      kind: option.kind === undefined ? undefined : head(cleanText(option.kind), 64),
      agents: option.optionId,
    }));
    const answer = await this.ask(turn, {kind: 'Permission', text: permissionText(asked), options}, cancelled);
    if (answer === 'withdrawn') return {outcome: 'cancelled'};
    if (namesNone(options, answer)) {
      const text = `The answer of question ${answer.question} names none of its options (${options.map(({id}) => id).join(', ')}): the agent is told no, because words do not say which of them is meant.`;
      this.reporter.record({kind: 'notice', text: head(text, MAX_SHOWN)}, turn?.record);
    }
    const reply = permissionReply(options, answer);
    if (reply.outcome === 'cancelled') return reply;
    const chosen = options.find((option) => option.id === reply.optionId);
    return {outcome: 'selected', optionId: chosen?.agents ?? reply.optionId};
  }

  async elicitation(
    turn: AskingTurn | undefined,
    asked: ElicitationAsked,
    cancelled: AbortSignal,
  ): Promise<ElicitationReply> {
    const schema = asked.requestedSchema === undefined ? undefined : JSON.stringify(asked.requestedSchema);
    // A URL to open, or a form that no Question can hold, is declined: the agent goes on without.
    if (asked.mode !== 'form' || (schema !== undefined && schema.length > 16_384)) return {action: 'decline'};
    const answer = await this.ask(turn, {kind: 'Elicitation', text: asked.message, schema}, cancelled);
    return answer === 'withdrawn' ? {action: 'cancel'} : elicitationReply(answer);
  }

  /** Hands over the answers of a desired document that are new. */
  answer(answers: readonly Answer[]): void {
    for (const answer of answers) {
      if (this.delivered.has(answer.uid)) continue;
      const open = this.open.get(answer.requestId);
      if (open === undefined) continue;
      this.delivered.add(answer.uid);
      open.settle(answer);
      const at = this.reporter.time();
      this.reporter.event({type: 'delivered', question: answer.question, questionUid: answer.uid, at});
      this.recordAnswer(open, answer);
    }
  }

  /** Takes back what the gateway made no Question of: nobody will answer. */
  refused(requests: readonly RefusedRequest[]): void {
    for (const {requestId, why} of requests) {
      const open = this.open.get(requestId);
      if (open === undefined) continue;
      const text = `The question could not be asked, and the agent was told that it is cancelled: ${why}`;
      this.reporter.record({kind: 'notice', text: head(cleanText(text), MAX_SHOWN)}, open.turn.record);
      this.takeBack(open);
    }
  }

  /**
   * Takes back what has had no Question for a while: somebody deleted it. Believed is the
   * first document of a stream (`first`), and one that leaves out what was named before: a replica that hears nothing of the
   * API any more goes on with what it knew when its stream began.
   */
  compare(desired: Desired, first: boolean): void {
    const open = [...this.open.values()];
    const waiting = open.map(({requestId, turn, event}) => {
      return {requestId, turnUid: turn.uid, acknowledged: this.reporter.isAcknowledged(event)};
    });
    const gone = withoutQuestion(desired, waiting);
    for (const each of open) {
      if (desired.questions?.includes(each.requestId) === true) each.named = true;
      if (!gone.has(each.requestId)) this.unsure(each);
      else if (first || each.named === true) each.absent ??= setTimeout(() => this.takeBack(each), ABSENT_FOR);
    }
  }

  /** The stream ended: what its last document left out is no longer said by anybody. */
  streamEnded(): void {
    for (const each of this.open.values()) this.unsure(each);
  }

  private unsure(open: Open): void {
    clearTimeout(open.absent);
    open.absent = undefined;
  }

  /** The turn is over or stopped: nothing waits any more. */
  withdrawAll(): void {
    for (const open of [...this.open.values()]) open.settle('withdrawn');
  }

  private takeBack(open: Open): void {
    open.settle('withdrawn');
    this.recordAnswer(open, {outcome: 'Withdrawn'});
  }

  private recordAnswer(
    {requestId, turn}: Open,
    {question, outcome, option, text, content}: Pick<Answer, 'outcome'> & Partial<Answer>,
  ): void {
    const data = {requestId, ...(question === undefined ? {} : {question}), outcome};
    this.reporter.record({kind: 'answer', text: option ?? text ?? content ?? outcome, data}, turn.record);
  }

  private ask(
    turn: AskingTurn | undefined,
    question: {kind: 'Permission' | 'Elicitation'; text: string; options?: Option[]; schema?: string | undefined},
    cancelled: AbortSignal,
  ): Promise<Answer | 'expired' | 'withdrawn'> {
    // Outside a turn there is nobody to ask, and a flood of questions is no question.
    if (turn === undefined || this.open.size >= MAX_OPEN || cancelled.aborted) return Promise.resolve('withdrawn');
    this.count += 1;
    const requestId = `${this.state.get().epoch}-${this.count}`;
    const expiresAt = new Date(Date.parse(this.reporter.time()) + OPEN_FOR).toISOString();
    const text = head(cleanText(question.text), MAX_SHOWN);
    const event: RunnerEvent = {
      type: 'question',
      turnUid: turn.uid,
      turnName: turn.name,
      requestId,
      kind: question.kind,
      text,
      ...(question.options === undefined
        ? {}
        : {options: question.options.map(({id, label, kind}) => ({id, label, ...(kind === undefined ? {} : {kind})}))}),
      ...(question.schema === undefined ? {} : {schema: cleanText(question.schema)}),
      expiresAt,
    };
    this.reporter.event(event);
    const options = question.options?.map(({id, label}) => ({id, label}));
    this.reporter.record(
      {kind: 'question', text, data: {requestId, kind: question.kind, ...(options === undefined ? {} : {options})}},
      turn.record,
    );
    this.remember();
    return this.wait({requestId, turn, event}, cancelled);
  }

  private wait(of: Asked, cancelled: AbortSignal): Promise<Answer | 'expired' | 'withdrawn'> {
    return new Promise((resolve) => {
      const onCancel = (): void => settle('withdrawn');
      const settle = (answer: Answer | 'expired' | 'withdrawn'): void => {
        if (!this.open.delete(of.requestId)) return;
        clearTimeout(timer);
        clearTimeout(open.absent);
        cancelled.removeEventListener('abort', onCancel);
        this.remember();
        if (answer === 'withdrawn') {
          this.reporter.event({type: 'withdrawn', requestId: of.requestId, turnUid: of.turn.uid});
        }
        resolve(answer);
      };
      const timer = setTimeout(() => settle('expired'), OPEN_FOR + EXPIRY_GRACE);
      cancelled.addEventListener('abort', onCancel, {once: true});
      const open: Open = {...of, settle};
      this.open.set(of.requestId, open);
      this.remember();
    });
  }

  private remember(): void {
    const questions = [...this.open.values()].map(({requestId, turn}) => ({requestId, turnUid: turn.uid}));
    this.state.update((saved) => ({...saved, questions}));
  }
}

/** What is asked for, from the question and all that is known of its tool call: many agents send no more than an id. */
function permissionText(asked: PermissionAsked & {known: Record<string, unknown>}): string {
  const call = {...asked.known, ...asked.toolCall};
  const title = typeof call['title'] === 'string' && call['title'] !== '' ? call['title'] : 'a tool call';
  const input = call['rawInput'];
  const detail = typeof input === 'object' && input !== null ? `\n${shown(input)}` : '';
  return `The agent asks for permission: ${title}${detail}`;
}

/** Indented only where it is short and flat: the indentation of something deep could be larger than all memory. */
function shown(input: object): string {
  const plain = JSON.stringify(input);
  const flat = plain.length <= MAX_SHOWN && (plain.match(/[[{]/g)?.length ?? 0) <= MAX_INDENTED;
  return flat ? JSON.stringify(input, null, 2) : plain;
}
