import {once} from 'node:events';
import {z} from 'zod';
import {StoredRecord} from '../../api/wire/archive.ts';
import {Refusal} from '../../domain/refusal.ts';
import {sendJson} from '../../http/reply.ts';
import {type RestParts, type RestRequest, toolData} from './index.ts';

const TranscriptPage = z.object({session: z.string(), records: z.array(StoredRecord), next: z.int().optional()});

/** Records fetched at once while streaming. */
const CHUNK = 500;
/** A reader that takes nothing for so long is gone. */
const STALLED_MS = 60_000;

/**
 * `GET /api/v1/sessions/{name}/transcript`: one page as JSON (`after`, `limit`, `turn`), or with
 * `Accept: application/x-ndjson` the whole from `after` on, a record on each line.
 */
export async function sendTranscript(parts: RestParts, request: RestRequest, name: string): Promise<void> {
  const {url, req, res} = request;
  const after = numberOf(url, 'after', 0);
  const turn = url.searchParams.get('turn');
  const page = async (from: number, limit: number) => {
    const args = {session_id: name, after: from, limit, ...(turn === null ? {} : {turn_uid: turn})};
    return TranscriptPage.parse(await toolData(parts, request, 'get_transcript_archive', args));
  };
  if (!(req.headers.accept ?? '').includes('application/x-ndjson')) {
    sendJson(res, 200, await page(after, numberOf(url, 'limit', 100)));
    return;
  }
  // The first page decides the status; what fails later cuts the stream, so that half a transcript never looks whole.
  let current = await page(after, CHUNK);
  res.writeHead(200, {'content-type': 'application/x-ndjson', 'cache-control': 'no-store'});
  try {
    for (;;) {
      const lines = current.records.map((r) => `${JSON.stringify(r)}\n`).join('');
      if (lines !== '' && !res.write(lines)) await taken(request);
      if (current.next === undefined) break;
      current = await page(current.next, CHUNK);
    }
    res.end();
  } catch {
    res.destroy();
  }
}

// A reader that takes nothing would hold one of the places of all requests for ever.
async function taken({res, connection}: RestRequest): Promise<void> {
  await once(res, 'drain', {signal: AbortSignal.any([connection.signal, AbortSignal.timeout(STALLED_MS)])});
}

function numberOf(url: URL, name: string, otherwise: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return otherwise;
  if (!/^\d{1,15}$/.test(text)) throw new Refusal('invalid_arguments', `${name} must be a whole number.`);
  return Number(text);
}
