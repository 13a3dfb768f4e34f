import {piecesOf, type Reaction, tokensOf} from './reaction.ts';

type Answer = Extract<Reaction, {kind: 'say' | 'tool'}>;

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...data})}\n\n`;

const blockOf = (answer: Answer) =>
  answer.kind === 'say'
    ? {type: 'text', text: answer.text}
    : {type: 'tool_use', id: 'toolu_stub', name: answer.name, input: answer.input};

const stopOf = (answer: Answer) => (answer.kind === 'say' ? 'end_turn' : 'tool_use');

const outputOf = (answer: Answer) => tokensOf(answer.kind === 'say' ? answer.text : JSON.stringify(answer.input));

/** Anthropic Messages: a whole reply. */
export function anthropicReply(answer: Answer, model: string, inputTokens: number): object {
  return {
    id: 'msg_stub',
    type: 'message',
    role: 'assistant',
    model,
    content: [blockOf(answer)],
    stop_reason: stopOf(answer),
    stop_sequence: null,
    usage: {input_tokens: inputTokens, output_tokens: outputOf(answer)},
  };
}

/** Anthropic Messages: the events of a streamed reply, in order. */
export function anthropicEvents(answer: Answer, model: string, inputTokens: number): string[] {
  const start = {...anthropicReply(answer, model, inputTokens), content: [], stop_reason: null};
  const usage = {input_tokens: inputTokens, output_tokens: 1};
  const block = answer.kind === 'say' ? {type: 'text', text: ''} : {...blockOf(answer), input: {}};
  const deltas =
    answer.kind === 'say'
      ? piecesOf(answer.text, answer.pieces).map((text) => ({type: 'text_delta', text}))
      : [{type: 'input_json_delta', partial_json: JSON.stringify(answer.input)}];
  return [
    event('message_start', {message: {...start, usage}}),
    event('content_block_start', {index: 0, content_block: block}),
    ...deltas.map((delta) => event('content_block_delta', {index: 0, delta})),
    event('content_block_stop', {index: 0}),
    event('message_delta', {
      delta: {stop_reason: stopOf(answer), stop_sequence: null},
      usage: {output_tokens: outputOf(answer)},
    }),
    event('message_stop', {}),
  ];
}

/** Anthropic's error body, also the data of an error inside a stream. */
export function anthropicError(message: string, type = 'invalid_request_error'): object {
  return {type: 'error', error: {type, message}};
}
