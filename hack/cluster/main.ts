import {dirname} from 'node:path';
import {parseArgs} from 'node:util';
import {chooseProvider} from './cluster.ts';
import {run} from './command.ts';
import type {Cluster, Provider} from './provider.ts';
import {DEFAULT_CLUSTER} from './settings.ts';

const USAGE = `npm run cluster -- VERB [--name NAME]
  up [--nodes N] [--apiserver-arg=--FLAG=VALUE]...   make it, or bring it to this; waits until it works
  down                                               remove it without a trace
  status                                             processes and nodes
  kubeconfig                                         path of the kubeconfig
  env                                                settings for a shell: eval "$(npm run --silent cluster -- env)"
  logs [COMPONENT]                                   log files, or the end of one
  node stop|start|kill|partition|heal NAME
  apiserver stop|start|kill`;

const NODE_VERBS = ['stop', 'start', 'kill', 'partition', 'heal'] as const;
const APISERVER_VERBS = ['stop', 'start', 'kill'] as const;

function oneOf<T extends string>(allowed: readonly T[], given: string | undefined): T {
  const found = allowed.find((one) => one === given);
  if (found === undefined) throw new Error(`${given ?? 'nothing'}: allowed are ${allowed.join(', ')}\n${USAGE}`);
  return found;
}

function parse() {
  const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      name: {type: 'string', default: DEFAULT_CLUSTER},
      nodes: {type: 'string'},
      'apiserver-arg': {type: 'string', multiple: true},
      help: {type: 'boolean', short: 'h'},
    },
  });
  return {values, positionals};
}

function describe(cluster: Cluster): void {
  console.log(`cluster ${cluster.name} (${cluster.provider}), nodes: ${cluster.nodes.join(', ')}
  export KUBECONFIG=${cluster.kubeconfigPath}
  kubectl:  ${cluster.tools.kubectl}
  registry: ${cluster.registry}${cluster.auditLogPath === undefined ? '' : `\n  audit:    ${cluster.auditLogPath}`}`);
}

/** Words for `eval`: kubectl and helm of the cluster's version come first on the PATH. */
function shellSettings({kubeconfigPath, tools}: Cluster): string {
  const folders = [...new Set([dirname(tools.kubectl), dirname(tools.helm)])];
  return `export KUBECONFIG='${kubeconfigPath}' PATH='${folders.join(':')}':"$PATH"`;
}

async function printLogs(provider: Provider, name: string, component: string | undefined): Promise<void> {
  const files = await provider.logs(name);
  if (component === undefined) {
    for (const [one, path] of Object.entries(files)) console.log(`${one.padEnd(28)} ${path}`);
    return;
  }
  const path = files[oneOf(Object.keys(files), component)];
  if (path !== undefined) process.stdout.write(await run('tail', ['-n', '200', path]));
}

async function main(): Promise<void> {
  const {values, positionals} = parse();
  const [verb, first, second = ''] = positionals;
  const {name} = values;
  const provider = chooseProvider();
  const verbs: Record<string, () => Promise<void>> = {
    up: async () => {
      const args = values['apiserver-arg'];
      const nodes = values.nodes === undefined ? {} : {nodes: Number(values.nodes)};
      describe(await provider.up({name, ...nodes, ...(args === undefined ? {} : {apiserverArgs: args})}));
    },
    down: () => provider.down(name),
    status: async () => {
      for (const line of await provider.status(name))
        console.log(`${line.what.padEnd(26)} ${line.state.padEnd(12)} ${line.detail}`);
    },
    kubeconfig: async () => console.log((await provider.open(name)).kubeconfigPath),
    env: async () => console.log(shellSettings(await provider.open(name))),
    logs: () => printLogs(provider, name, first),
    node: async () => (await provider.open(name)).node(second)[oneOf(NODE_VERBS, first)](),
    apiserver: async () => (await provider.open(name)).apiserver[oneOf(APISERVER_VERBS, first)](),
  };
  const action = verb === undefined ? undefined : verbs[verb];
  if (values.help || action === undefined) {
    console.log(USAGE);
    if (!values.help) process.exitCode = 2;
    return;
  }
  await action();
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
