import {join} from 'node:path';
import {down, openCluster} from './cluster/cluster.ts';
import {run} from './cluster/command.ts';
import {readSettings} from './cluster/settings.ts';
import {renderExample} from './demo/example.ts';
import {DemoPlace} from './demo/place.ts';
import {printTranscript} from './demo/transcript.ts';
import {type Environment, prepare, RELEASE_NAMESPACE, TEST_VALUES} from './environment.ts';
import {ROOT} from './image/build.ts';
import {say, step} from './progress.ts';

/** `npm run demo`: a session does its work in an isolated pod of a real Kubernetes. `-- --down` removes every trace. */
const started = Date.now();
const DEMO_NAMESPACE = 'carrel-demo';
const args = process.argv.slice(2);
const unknown = args.filter((a) => a !== '--down');
if (unknown.length > 0) {
  process.stderr.write(`unknown argument ${unknown.join(' ')}; the only one is --down\n`);
  process.exit(2);
}
if (args.includes('--down')) {
  await removeAll();
} else {
  await demo(await prepare(TEST_VALUES));
  process.stdout.write(`demo: ok (${Math.round((Date.now() - started) / 1000)} s)\n`);
}

/** A cluster of our own goes with all that is in it; of one of somebody else's, what the demo has put there. */
async function removeAll(): Promise<void> {
  if (readSettings().existing === undefined) {
    await down();
    return say('the demo cluster and every trace of it are gone');
  }
  const cluster = await openCluster();
  await step('remove the release and the namespace carrel-demo', async () => {
    await cluster.kubectl(['delete', 'namespace', DEMO_NAMESPACE, '--ignore-not-found']);
    const release = ['uninstall', 'carrel', '--namespace', RELEASE_NAMESPACE, '--ignore-not-found', '--wait'];
    await run(cluster.tools.helm, release, {env: {KUBECONFIG: cluster.kubeconfigPath}});
  });
  say(`the cluster is not ours: its nodes, the CRDs of carrel.dev and namespace ${RELEASE_NAMESPACE} stay`);
}

/** The whole story: answer from the workspace, memory, a tool, a question, the transcript. */
async function demo(environment: Environment): Promise<void> {
  const example = await renderExample(environment.images);
  const place = new DemoPlace(environment.cluster, DEMO_NAMESPACE);
  await step('namespace carrel-demo, without what an earlier demo left', () => place.fresh());
  await place.kubectl(['apply', '--server-side', '-f', example, '-f', join(ROOT, 'examples/reader.yaml')]);
  await step('first turn', () => place.turnDone('first', 1));
  told('The agent answers the first prompt from the files of its workspace:', await place.response('first', 1));
  await place.turn('remembers', 'first', 'recall codeword');
  await step('second turn', () => place.turnDone('first', 2));
  told('A second turn needs the memory of the first:', await place.response('first', 2));
  await place.turn('calls', 'first', 'tool get_session {"session_id":"first"}\nask What shall the report be called?');
  const question = await step('third turn: the agent calls a platform tool, then asks', () =>
    place.openQuestion('first'),
  );
  told('The agent asks:', question.text);
  say(
    `kubectl -n carrel-demo patch questions.carrel.dev ${question.name} --type=merge -p '{"spec":{"answer":{"text":"Reading room"}}}'`,
  );
  await place.answer(question.name, 'Reading room');
  await step('the answer reaches the agent', () => place.turnDone('first', 3));
  told('With the answer it goes on:', await place.response('first', 3));
  await step('transcript', () => printTranscript(environment.cluster, place, 'first'));
  lookAround(environment);
}

function told(what: string, text: string): void {
  process.stdout.write(`\n${what}\n${text.replaceAll(/^/gm, '    ').trimEnd()}\n\n`);
}

function lookAround({cluster}: Environment): void {
  const kubectl = `${cluster.tools.kubectl} --kubeconfig ${cluster.kubeconfigPath} -n carrel-demo`;
  process.stdout.write(
    [
      '\nLook around:',
      `  ${kubectl} get sessions.carrel.dev,turns.carrel.dev,questions.carrel.dev,pods`,
      `  ${kubectl} describe sessions.carrel.dev first`,
      `  ${kubectl} explain sessions.carrel.dev.spec`,
      '',
      '',
    ].join('\n'),
  );
}
