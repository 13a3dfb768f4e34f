import {chmod, copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {readSettings} from '../../../hack/cluster/settings.ts';
import {imageCache} from '../../../hack/image/build.ts';
import {buildImage, type Target} from '../../../hack/image/image.ts';
import {buildGo} from '../../support/go/build.ts';
import type {AgentInput, Release} from '../../support/release.ts';

/** An agent in a few lines of shell: what busybox has is enough to speak ACP. */
const SHELL_AGENT = `while read -r line; do
  id=\${line#*\\"id\\":}; id=\${id%%[,\\}]*}
  case $line in
    *'"method":"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*) result='{"sessionId":"only"}' ;;
    *'"method":"session/prompt"'*)
      text="the shell in $(cat /proc/sys/kernel/ostype) answers"
      chunk='{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'$text'"}}'
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"only","update":'$chunk'}}'
      result='{"stopReason":"end_turn"}' ;;
    *) continue ;;
  esac
  echo '{"jsonrpc":"2.0","id":'$id',"result":'$result'}'
done`;

/** An agent whose image has no glibc and no shell, and what it answers to `hello`. */
export interface BareAgent {
  readonly spec: AgentInput;
  readonly answer: string;
}

/** Where images of a release are pushed to. */
export function targetOf({cluster}: Pick<Release, 'cluster'>): Target {
  return {registry: cluster.registry, crane: cluster.tools.crane, cache: imageCache(readSettings().cache)};
}

/** An image that is empty but for one static binary. */
export async function staticImage(target: Target): Promise<string> {
  const binary = await buildGo('static-agent');
  const stage = async (folder: string) => {
    await copyFile(binary, join(folder, 'agent'));
    await chmod(join(folder, 'agent'), 0o755);
  };
  const plan = {
    repository: 'carrel/static-agent',
    layers: [{uid: 0, stage}],
    entrypoint: ['/agent'],
    user: '65534:65534',
  };
  return await buildImage(plan, target);
}

/** Agents in images that have nothing of ours: busybox only, and one static binary only. */
export async function bareAgents(images: {busybox: string}, target: Target): Promise<Record<string, BareAgent>> {
  const workspace = {size: '64Mi'};
  const shell = {image: images.busybox, command: ['/bin/sh', '-c', SHELL_AGENT], workspace};
  const single = {image: await staticImage(target), command: ['/agent'], workspace};
  return {
    busybox: {spec: shell, answer: 'the shell in Linux answers'},
    static: {spec: single, answer: 'the static agent heard: hello'},
  };
}
