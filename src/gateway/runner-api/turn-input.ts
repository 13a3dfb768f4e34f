import {createHash} from 'node:crypto';
import type {TurnObject} from '../../api/v1alpha1/index.ts';
import type {TurnCode} from '../../domain/turn/codes.ts';
import {ConfigMaps} from '../../kube/builtin.ts';
import {Turns} from '../../kube/kinds.ts';
import type {Client} from '../../kube/ports.ts';

/** The prompt of a turn as it stands in the API now. */
export type TurnInput =
  | {readonly kind: 'read'; readonly parts: readonly {readonly text: string}[]}
  /** The turn is not this pod's any more. */
  | {readonly kind: 'moved'}
  /** The prompt can never be delivered. */
  | {readonly kind: 'broken'; readonly code: TurnCode; readonly message: string};

/** Read the body of a turn live: caches drop bodies. Throws ApiError when the API server gives no answer. */
export async function readInput(client: Pick<Client, 'find'>, turn: TurnObject): Promise<TurnInput> {
  const {namespace, name, uid} = turn.metadata;
  const live = await client.find(Turns, {namespace, name}, {timeoutMs: 10_000});
  const same = live?.metadata.uid === uid && live.status?.podUID === turn.status?.podUID;
  if (live === undefined || !same || live.status?.phase !== 'Running') return {kind: 'moved'};
  const parts: {text: string}[] = [];
  for (const part of live.spec.input) {
    if (part.text !== undefined) parts.push({text: part.text});
    if (part.from === undefined) continue;
    const text = await readPart(client, namespace, part.from);
    if (text.kind === 'broken') return text;
    parts.push({text: text.text});
  }
  const bytes = Buffer.byteLength(JSON.stringify(parts));
  if (bytes <= MAX_BYTES) return {kind: 'read', parts};
  const message = `the input has ${bytes} bytes as JSON, at most ${MAX_BYTES} can be delivered; put it into a file of the workspace`;
  return {kind: 'broken', code: 'input_too_large', message};
}

// A document is one line, and the runner takes lines of 4 MiB.
const MAX_BYTES = 3 * 1024 * 1024;

async function readPart(
  client: Pick<Client, 'find'>,
  namespace: string | undefined,
  from: {readonly configMap: string; readonly sha256: string},
): Promise<{kind: 'text'; text: string} | Extract<TurnInput, {kind: 'broken'}>> {
  const found = await client.find(ConfigMaps, {namespace, name: from.configMap}, {timeoutMs: 10_000});
  const text = found?.data?.['text'];
  if (text === undefined) {
    const message = `ConfigMap ${from.configMap} does not exist or has no key "text"; create it, then a new turn`;
    return {kind: 'broken', code: 'input_not_found', message};
  }
  const digest = createHash('sha256').update(text).digest('hex');
  if (digest === from.sha256) return {kind: 'text', text};
  const message = `ConfigMap ${from.configMap} has digest ${digest}, the turn names ${from.sha256}; create a new turn`;
  return {kind: 'broken', code: 'input_changed', message};
}
