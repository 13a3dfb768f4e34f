import {z} from 'zod';
import {wholeSeconds} from '../../../api/condition-list.ts';
import type {QuestionObject} from '../../../api/v1alpha1/index.ts';
import {buildAsk, hasRoom, MOST_QUESTIONS} from '../../../domain/change/question.ts';
import {Refusal} from '../../../domain/refusal.ts';
import {callingSession, defineTool} from '../../tool.ts';

/** How long a question waits for its person. */
const EXPIRES_MS = 7 * 24 * 3_600_000;

const output = z.object({
  status: z.enum(['answered', 'pending', 'expired', 'withdrawn']),
  question: z.string(),
  option: z.string().optional(),
  text: z.string().optional(),
  answered_by: z.string().optional(),
  note: z.string().optional(),
});
type Output = z.output<typeof output>;

export default defineTool({
  name: 'ask_user',
  group: 'ask',
  effect: 'create',
  description:
    'Asks the owner of this session a question and waits up to 50 seconds for the answer. If the reply says pending, end your turn: the answer will arrive as a message. Asking the same again waits for the same question.',
  input: z.strictObject({
    question: z.string().min(1).max(8192).describe('The question, complete in itself.'),
    options: z
      .array(z.strictObject({id: z.string().min(1).max(128), label: z.string().min(1).max(512)}))
      .max(32)
      .optional()
      .describe('Choices; leave it out for a free answer.'),
    idempotency_key: z
      .string()
      .max(256)
      .optional()
      .describe('Give another key to ask the same words again in this turn.'),
  }),
  output,
  sessionOnly: true,
  needs: () => [],
  async handle(call) {
    const {input, store, namespace, now} = call;
    const caller = callingSession(call.caller);
    const session = call.session(caller.name);
    const turn = session.status?.activeTurn;
    if (turn === undefined) throw new Refusal('no_active_turn', 'The session has no running turn to ask from.');
    const ask = {text: input.question, options: input.options, key: input.idempotency_key};
    const expiresAt = wholeSeconds(new Date(now.getTime() + EXPIRES_MS));
    const manifest = buildAsk(session, turn, {...ask, expiresAt});
    const room = hasRoom(store.questions(namespace, caller.name), turn.name, {
      name: manifest.metadata.name,
      asked: true,
    });
    if (!room) throw tooMany(turn.name);
    const {object} = await store.createQuestion(manifest);
    if (object.metadata.namespace !== namespace) throw new Error('a question was made in another namespace');
    const settled = await call.during(
      `Question ${object.metadata.name} waits for its answer.`,
      store.settledQuestion(object, {timeoutMs: call.askWaitMs, signal: call.signal}),
    );
    if (settled === undefined) return pending(object);
    if (settled.status?.phase === 'Answered') await store.markDelivered(settled);
    return outcomeOf(settled);
  },
});

function tooMany(turn: string): Refusal {
  return new Refusal(
    'too_many_questions',
    `Turn "${turn}" has asked ${MOST_QUESTIONS.asked} questions, and a turn may ask no more. End it, and say in your answer what is still open.`,
  );
}

function pending(question: QuestionObject): Output {
  const note = 'Nobody has answered yet. End your turn now; the answer will arrive as a message.';
  return {status: 'pending', question: question.metadata.name, note};
}

function outcomeOf(question: QuestionObject): Output {
  const {answer, answeredBy} = question.spec;
  const name = question.metadata.name;
  if (question.status?.phase === 'Expired') return {status: 'expired', question: name};
  if (question.status?.phase === 'Withdrawn') return {status: 'withdrawn', question: name};
  return {
    status: 'answered',
    question: name,
    ...(answer?.option === undefined ? {} : {option: answer.option}),
    ...(answer?.text === undefined ? {} : {text: answer.text}),
    ...(answer?.content === undefined ? {} : {text: answer.content}),
    ...(answeredBy === undefined ? {} : {answered_by: answeredBy}),
  };
}
