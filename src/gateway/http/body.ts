import type {IncomingMessage} from 'node:http';
import {Refusal} from '../../domain/refusal.ts';
import {BodyTooLarge, parseJson, readBody} from '../../http/body.ts';

/** Largest body taken. */
const MAX_BODY = 1_048_576;

/** Read a JSON body: type and size are checked before it is parsed; throws Refusals. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const type = req.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal('media_type', 'Send the body as Content-Type: application/json.');
  const parsed = parseJson(await bytesOf(req));
  if (parsed === undefined) throw new Refusal('invalid_json', 'The body is not valid JSON.');
  return parsed;
}

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  try {
    return await readBody(req, MAX_BODY);
  } catch (error) {
    if (error instanceof BodyTooLarge)
      throw new Refusal(
        'body_too_large',
        `The body is larger than ${MAX_BODY} bytes; send less: the text of one turn may have 64 KiB.`,
      );
    throw error;
  }
}
