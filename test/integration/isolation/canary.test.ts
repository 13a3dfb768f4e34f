import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {LABEL_AGENT, LABEL_SESSION} from '../../../src/api/meta.ts';
import {LONG, openRelease, Place, until} from '../../support/release.ts';
import {podOf} from './attack.ts';

const RELEASE = 'carrel-system';
const CANARY = 8081;

describe('a pod whose network policy does not hold', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'canary');
    for (const name of ['early', 'late']) await place.agent(name, {workspace: {size: '64Mi'}});
    await widen('early');
    await place.session('one', {agent: 'early', prompt: 'say inside'});
    await place.session('two', {agent: 'late', prompt: 'stall 600'});
    await place.untilSession('two', (s) => s.status?.phase === 'Running' && s.status.runner?.state === 'Ready');
    expect(await commands('two')).toContain('scripted-agent.js');
    await widen('late');
  });
  afterAll(async () => {
    await place.remove();
  });

  /** A second policy: policies add up, so what one more allows is open. */
  async function widen(agent: string): Promise<void> {
    const to = [{namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': RELEASE}}}];
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: {name: `wide-${agent}`},
      spec: {
        podSelector: {matchLabels: {[LABEL_AGENT]: agent}},
        policyTypes: ['Egress'],
        egress: [{to, ports: [{protocol: 'TCP', port: CANARY}]}],
      },
    };
    await place.kubectl(['create', '-f', '-'], JSON.stringify(policy));
  }

  async function narrow(agent: string): Promise<void> {
    await place.kubectl(['delete', 'networkpolicy', `wide-${agent}`]);
  }

  /** Commands that run in the agent's container. */
  async function commands(session: string): Promise<string> {
    const line = "for p in /proc/[0-9]*; do /bin/busybox tr '\\0' ' ' <$p/cmdline; echo; done 2>/dev/null";
    const pod = await podOf(place, session);
    return await place.kubectl(['exec', pod, '-c', 'agent', '--', '/bin/sh', '-c', line]);
  }

  const notIsolated = {reason: 'NetworkNotIsolated'};

  it('an agent is not started while the canary port is open, and is once it is closed', async () => {
    const stopped = await place.untilSession('one', (s) => s.status?.phase === 'Failed');
    const ready = stopped.status?.conditions?.find((c) => c.type === 'Ready');
    expect(ready).toMatchObject({status: 'False', ...notIsolated});
    expect(ready?.message).toContain('a port that no policy allows could be reached');
    expect(stopped.status?.runner?.agentSessionId).toBeUndefined();
    await narrow('early');
    await place.kubectl(['patch', 'sessions.carrel.dev', 'one', '--type=merge', '-p', '{"spec":{"restart":1}}']);
    await place.turn('again', 'one', 'say inside');
    await place.untilSession(
      'one',
      (s) => s.status?.phase === 'Idle' && s.status.turns !== undefined && s.status.turns > 0,
    );
    const answers = (await place.turns('one')).map((turn) => turn.status?.response ?? '');
    expect(answers.join()).toContain('inside');
  });

  it('an agent that runs is killed when the canary port is found open at the check of each minute', async () => {
    const turn = await place.untilTurn('two', 1);
    expect(turn.status).toMatchObject({phase: 'Failed', error: {code: 'network_not_isolated'}});
    expect(turn.status?.error?.message).toContain('the NetworkPolicy was lost while the agent ran');
    const stopped = await place.untilSession('two', (s) => s.status?.phase === 'Failed');
    expect(stopped.status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({
      status: 'False',
      ...notIsolated,
    });
    await until(LONG, async () => {
      const names = (await place.pods()).map((one) => one.metadata.labels?.[LABEL_SESSION]);
      expect(names).not.toContain('two');
    });
    await narrow('late');
  });
});
