import {piecesOf, type Reaction, tokensOf} from './reaction.ts';

type Answer = Extract<Reaction, {kind: 'say' | 'tool'}>;

const usageOf = (answer: Answer, inputTokens: number) => {
  const output = tokensOf(answer.kind === 'say' ? answer.text : JSON.stringify(answer.input));
  return {prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output};
};

const toolCall = (answer: Extract<Answer, {kind: 'tool'}>) => ({
  index: 0,
  id: 'call_stub',
  type: 'function',
  function: {name: answer.name, arguments: JSON.stringify(answer.input)},
});

const stopOf = (answer: Answer) => (answer.kind === 'say' ? 'stop' : 'tool_calls');

/** OpenAI chat completions: a whole reply. */
export function chatReply(answer: Answer, model: string, inputTokens: number): object {
  const message =
    answer.kind === 'say'
      ? {role: 'assistant', content: answer.text}
      : {role: 'assistant', content: null, tool_calls: [toolCall(answer)]};
  return {
    id: 'chatcmpl-stub',
    object: 'chat.completion',
    model,
    choices: [{index: 0, message, finish_reason: stopOf(answer)}],
    usage: usageOf(answer, inputTokens),
  };
}

/** OpenAI chat completions: the events of a streamed reply, usage in the last one. */
export function chatEvents(answer: Answer, model: string, inputTokens: number): string[] {
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({id: 'chatcmpl-stub', object: 'chat.completion.chunk', model, choices, ...more})}\n\n`;
  const deltas: object[] =
    answer.kind === 'say'
      ? piecesOf(answer.text, answer.pieces).map((content) => ({content}))
      : [{tool_calls: [toolCall(answer)]}];
  return [
    ...deltas.map((delta) => chunk([{index: 0, delta, finish_reason: null}])),
    chunk([{index: 0, delta: {}, finish_reason: stopOf(answer)}]),
    chunk([], {usage: usageOf(answer, inputTokens)}),
    'data: [DONE]\n\n',
  ];
}

/** OpenAI's error body. */
export function chatError(message: string, type = 'invalid_request_error'): object {
  return {error: {message, type, code: type, param: null}};
}
