import {createReadStream} from 'node:fs';
import {createInterface} from 'node:readline';
import {z} from 'zod';

/** One request as the API server logged it; only what is counted. */
const AuditLine = z.object({
  stage: z.string(),
  verb: z.string(),
  user: z.object({username: z.string()}),
  objectRef: z
    .object({resource: z.string(), namespace: z.string().optional(), subresource: z.string().optional()})
    .optional(),
  requestReceivedTimestamp: z.string(),
});

/** Verbs that write. */
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Leases and reviews belong to no namespace of a session; they are printed apart. */
const APART = /^leases$|reviews$/;

/** Writes of controller and gateway in a span of time, told apart by what the budgets count. */
export interface Writes {
  /** Objects of ours and of Kubernetes, without Events, Leases and reviews. */
  objects: number;
  events: number;
  leases: number;
  reviews: number;
  /** Of whoever: kubelets, Kubernetes' own controllers and the person too, in that namespace. */
  all: number;
  /** What `objects` consists of: `patch turns/status` -> how often. */
  detail: Record<string, number>;
}

/** Counts the writes in one namespace, those of these users apart, from `from` until `to` (milliseconds since the epoch). */
export async function countWrites(
  log: string,
  users: readonly string[],
  span: {from: number; to: number; namespace: string},
): Promise<Writes> {
  const writes: Writes = {objects: 0, events: 0, leases: 0, reviews: 0, all: 0, detail: {}};
  for await (const text of createInterface({input: createReadStream(log), crlfDelay: Number.POSITIVE_INFINITY})) {
    if (!text.includes(span.namespace) && !users.some((u) => text.includes(u))) continue;
    const line = AuditLine.safeParse(parse(text));
    if (!line.success || line.data.stage !== 'ResponseComplete') continue;
    const {verb, objectRef, user, requestReceivedTimestamp} = line.data;
    const at = Date.parse(requestReceivedTimestamp);
    if (at < span.from || at >= span.to || !WRITES.has(verb)) continue;
    const here = objectRef?.namespace === span.namespace;
    if (here) writes.all += 1;
    if (users.includes(user.username) && (here || APART.test(objectRef?.resource ?? '')))
      count(writes, verb, objectRef);
  }
  return writes;
}

function count(writes: Writes, verb: string, object: z.infer<typeof AuditLine>['objectRef']): void {
  const resource = object?.resource ?? '';
  if (resource === 'events') writes.events += 1;
  else if (resource === 'leases') writes.leases += 1;
  else if (resource.endsWith('reviews')) writes.reviews += 1;
  else {
    writes.objects += 1;
    const what = `${verb} ${resource}${object?.subresource === undefined ? '' : `/${object.subresource}`}`;
    writes.detail[what] = (writes.detail[what] ?? 0) + 1;
  }
}

/** The last line of a log that is being written may be cut. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
