import type {IncomingMessage} from 'node:http';
import {Refusal} from '../../domain/refusal.ts';

/** Largest body taken. */
export const MAX_BODY = 1_048_576;

/** Read a JSON body: type and size are checked before it is parsed; throws Refusals. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const type = req.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal('media_type', 'Send the body as Content-Type: application/json.');
  const text = await readText(req);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid_json', 'The body is not valid JSON.');
  }
}

async function readText(req: IncomingMessage): Promise<string> {
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > MAX_BODY) throw tooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Refusal {
  return new Refusal('body_too_large', `The body is larger than ${MAX_BODY} bytes.`);
}
