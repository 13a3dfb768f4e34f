import {z} from 'zod';
import type {Cluster} from '../cluster/cluster.ts';
import {forwardGateway, gatewayToken} from '../gateway.ts';
import type {DemoPlace} from './place.ts';

const Page = z.object({
  records: z.array(
    z.object({
      n: z.number(),
      kind: z.string(),
      text: z.string().optional(),
      turn: z.object({sequence: z.number()}).optional(),
    }),
  ),
});

/** What is printed of a record's text. */
const LINE = 100;

/** Reads the transcript through the gateway, with a short-lived token of a service account that may read it, and prints it. */
export async function printTranscript(cluster: Cluster, place: DemoPlace, session: string): Promise<void> {
  const token = await gatewayToken(cluster, place.namespace, 'reader');
  const gateway = await forwardGateway(cluster);
  try {
    const url = `${gateway.url}/api/v1/sessions/${session}/transcript?namespace=${place.namespace}&limit=200`;
    const reply = await fetch(url, {headers: {authorization: `Bearer ${token}`}});
    if (!reply.ok) throw new Error(`GET ${url}: ${reply.status} ${await reply.text()}`);
    const {records} = Page.parse(await reply.json());
    if (records.length === 0) throw new Error(`the transcript of ${session} is empty`);
    process.stdout.write('\nThe transcript, as the archive keeps it:\n');
    for (const {n, kind, text, turn} of records) {
      const words = (text ?? '').replaceAll(/\s+/g, ' ').slice(0, LINE);
      process.stdout.write(
        `    ${String(n).padStart(3)}  turn ${turn?.sequence ?? '-'}  ${kind.padEnd(14)} ${words}\n`,
      );
    }
  } finally {
    gateway.close();
  }
}
