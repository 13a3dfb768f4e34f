import {randomBytes} from 'node:crypto';
import {mkdirSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';
import {readRunnerConfig} from '../config/runner.ts';
import {Delivery} from '../runner/delivery.ts';
import {DesiredWatch} from '../runner/desired-watch.ts';
import {GatewayClient, tokenFiles} from '../runner/gateway-client.ts';
import {IsolationWatch} from '../runner/isolation.ts';
import {Journal} from '../runner/journal.ts';
import {checkIsolation, startLoopback} from '../runner/loopback/index.ts';
import {Questions} from '../runner/questions.ts';
import {recover} from '../runner/recover.ts';
import {Reporter} from '../runner/reporter.ts';
import {ShimLink} from '../runner/shim-link.ts';
import {StateFile} from '../runner/state.ts';
import {Supervisor} from '../runner/supervisor.ts';
import {createLogger} from '../telemetry/logger.ts';

/** Entry of the runner: the sidecar that drives the agent of one session pod. */
const config = readRunnerConfig(process.env);
const log = createLogger('runner', config.logLevel);
const {podUid, launch} = config;

mkdirSync(config.stateFolder, {recursive: true});
const state = new StateFile(config.stateFolder);
state.update((saved) => ({...saved, epoch: saved.epoch + 1}));
const {epoch} = state.get();
const journal = new Journal(config.stateFolder, epoch);
const reporter = new Reporter(journal, () => new Date());
recover(state, reporter);
// What nobody waited for must not end the runner: its restart would cost the turn that runs.
process.on('unhandledRejection', (error) => {
  log.error({message: error instanceof Error ? error.stack : String(error)}, 'an unhandled rejection');
});
log.info({epoch, session: config.session, namespace: config.namespace, attempt: config.attempt}, 'runner started');

const tokens = tokenFiles(config.tokensFolder);
const gateway = new GatewayClient(config.gateway, tokens);
const questions = new Questions(reporter, state);

// Loopback ports and socket are bound before the shim can start anything: nothing of the agent's can take them.
const loopback = await startLoopback({
  launch,
  namespace: config.namespace,
  gateway: config.gateway,
  egress: config.egress,
  tokens,
  secretsFolder: config.modelKeyFolder,
  caFolder: config.modelCaFolder,
  key: randomBytes(32).toString('hex'),
  log,
  ports: config.ports,
});
const left = Promise.withResolvers<'left'>();
const link = new ShimLink({
  log,
  nonces: {get: () => state.get().nonce, set: (nonce) => state.update((saved) => ({...saved, nonce}))},
  events: {
    connected: () => supervisor.look(),
    lost: (why) => supervisor.shimLost(why),
    terminating: () => supervisor.shimTerminating(),
  },
});
const supervisor = new Supervisor({
  launch,
  workspace: config.workspace,
  bridge: config.bridge,
  link,
  loopback,
  questions,
  reporter,
  journal,
  gateway,
  state,
  log,
  now: () => Date.now(),
  left: () => left.resolve('left'),
});
await link.listen(config.socket);

const gatewayPort = Number(config.gateway.port || 80);
const isolation = new IsolationWatch({
  canaries: [
    {
      allowed: {host: config.gateway.hostname.replaceAll(/[[\]]/g, ''), port: gatewayPort},
      canary: config.gatewayCanary,
    },
    {allowed: config.egress, canary: config.egressCanary},
  ],
  check: checkIsolation,
  events: {
    confirmed: () => supervisor.isolated(),
    failed: (verdict, message) => supervisor.notIsolated(verdict === 'open', message),
  },
  log,
});
const delivery = new Delivery({
  podUid,
  journal,
  gateway,
  log,
  refused: (requests) => questions.refused(requests),
  nextEpoch() {
    state.update((saved) => ({...saved, epoch: saved.epoch + 1}));
    return state.get().epoch;
  },
  now: () => new Date(),
});
const watch = new DesiredWatch({
  podUid,
  gateway,
  log,
  onChange: (desired, first) => supervisor.want(desired, first),
  onEnd: () => questions.streamEnded(),
});
const term = new Promise<'term'>((resolve) => process.once('SIGTERM', () => resolve('term')));

void isolation.run();
const reason = await Promise.race([delivery.run(), watch.run(), left.promise, term]);
log.info({reason}, 'runner ends');
// Of a pod that ends before its agent's container is up: that one shall not wait for a runner that never comes again.
if (reason === 'term') link.shutdownUnmet();
if (reason === 'left') {
  await Promise.race([delivery.flush(10_000), term]);
  link.shutdown();
  // The kubelet sends TERM when the agent's container has ended; an exit before it would only be restarted.
  await Promise.race([term, delay(10_000)]);
}
if (reason === 'refused') log.error({}, 'the gateway takes nothing of this runner: its pod ends, and with it the turn');
if (reason === 'fenced' || reason === 'refused') {
  link.shutdown();
  await Promise.race([term, delay(2_000)]);
}
if (reason !== 'fenced' && reason !== 'refused') await delivery.flush(2_000);
process.exit(0);
