import {z} from 'zod';

const Event = z.looseObject({
  delta: z.looseObject({text: z.string().optional()}).optional(),
  error: z.looseObject({message: z.string().optional()}).optional(),
});

/** Where the model is, and under what name. */
export interface ModelEndpoint {
  url: string;
  key: string;
  name: string;
}

/** Asks a model by the Anthropic Messages dialect, streaming. */
export class ModelClient {
  private readonly endpoint: ModelEndpoint;

  constructor(endpoint: ModelEndpoint) {
    this.endpoint = endpoint;
  }

  /** Yields the text of the answer as it comes; throws with the words of the provider. */
  async *ask(history: {role: 'user' | 'agent'; text: string}[], signal: AbortSignal): AsyncGenerator<string> {
    const {url, key, name} = this.endpoint;
    const messages = history.map(({role, text}) => ({role: role === 'user' ? 'user' : 'assistant', content: text}));
    const reply = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: {'x-api-key': key, 'content-type': 'application/json', 'anthropic-version': '2023-06-01'},
      body: JSON.stringify({model: name, max_tokens: 1024, stream: true, messages}),
      signal,
    });
    if (!reply.ok || reply.body === null) {
      throw new Error(`the model answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
    }
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of reply.body) {
      const lines = (rest + decoder.decode(chunk, {stream: true})).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const text = textOf(line);
        if (text !== '') yield text;
      }
    }
  }
}

function textOf(line: string): string {
  if (!line.startsWith('data:')) return '';
  const event = Event.parse(JSON.parse(line.slice(5)));
  if (event.error) throw new Error(`the model broke off: ${event.error.message ?? 'no reason given'}`);
  return event.delta?.text ?? '';
}
