import {run} from '../command.ts';
import type {Layout} from './layout.ts';

// etcd listens inside the control plane's namespace only, so the request is made from there.
const COMPACT = `
const ask = async (path, body) => {
  const answer = await fetch('http://127.0.0.1:2379/v3/kv/' + path, {method: 'POST', body: JSON.stringify(body)});
  if (!answer.ok) throw new Error('etcd: ' + answer.status + ' ' + (await answer.text()));
  return answer.json();
};
const {header} = await ask('range', {key: 'AA==', count_only: true});
await ask('compaction', {revision: header.revision, physical: true});
`;

/** Makes etcd forget every version but the newest. */
export async function compactEtcd(layout: Layout): Promise<void> {
  await run('nsenter', [
    `--net=/run/netns/${layout.controlPlane.namespace}`,
    process.execPath,
    '--input-type=module',
    '-e',
    COMPACT,
  ]);
}
