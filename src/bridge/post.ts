import {type IncomingMessage, request} from 'node:http';
import {LineCutter} from './lines.ts';

/** The platform's endpoint in this pod. */
export type Endpoint = {readonly url: URL; readonly key: string};

/** Longest reply, or event of one, in bytes: a page of a transcript is the largest. */
const MAX_REPLY = 16_777_216;
/** Milliseconds without a byte. Behind the endpoint, the gateway may be silent for 120 s before that is told. */
const SILENCE = 150_000;

/** What came back: JSON texts, in order. */
export type Reply = {readonly status: number; readonly texts: AsyncIterable<string>};

/** Posts one message. Throws when the endpoint does not answer, and from `texts` when it stops in the middle. */
export async function post(
  {url, key}: Endpoint,
  {body, headers}: {body: string; headers: Readonly<Record<string, string>>},
  signal: AbortSignal,
): Promise<Reply> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        // A connection for each message: a kept one may be closed by the other side just when it is used again. And no
        // proxy, whatever the agent's environment says.
        agent: false,
        signal,
        timeout: SILENCE,
        headers: {
          ...headers,
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          accept: 'application/json, text/event-stream',
        },
      },
      resolve,
    );
    sent.once('timeout', () => sent.destroy(new Error(`silent for ${SILENCE / 1000} s`)));
    sent.on('error', reject);
    sent.end(body);
  });
  const stream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
  return {status: reply.statusCode ?? 0, texts: stream ? events(reply) : whole(reply)};
}

async function* whole(reply: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply) {
    size += chunk.length;
    if (size > MAX_REPLY) throw new Error(`a reply of more than ${MAX_REPLY} bytes`);
    chunks.push(chunk);
  }
  if (size > 0) yield Buffer.concat(chunks).toString('utf8');
}

/** The data of each event of a stream. */
async function* events(reply: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const cutter = new LineCutter(MAX_REPLY);
  let data: string[] = [];
  let size = 0;
  for await (const chunk of reply) {
    for (const line of cutter.push(chunk)) {
      size += line?.length ?? MAX_REPLY + 1;
      if (size > MAX_REPLY) throw new Error(`an event of more than ${MAX_REPLY} bytes`);
      if (line?.startsWith('data:') === true) data.push(line.slice(5).trimStart());
      if (line !== '') continue;
      if (data.length > 0) yield data.join('\n');
      data = [];
      size = 0;
    }
  }
}
