import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import {openRelease, Place, until} from '../../support/release.ts';
import {processOf} from './host.ts';
import {answer, change, describeSession, eventsOf, openQuestion, podsOf, transcript} from './person.ts';

describe('a session when something breaks', () => {
  let place: Place;

  beforeAll(async () => {
    place = await Place.make(await openRelease(), 'faults');
    await place.agent('scribe', {workspace: {size: '64Mi'}});
    await place.agent('hungry', {workspace: {size: '64Mi'}, resources: {limits: {memory: '192Mi'}}});
    const prompt = 'remember colour green\nstall 600';
    await place.session('runner', {agent: 'scribe', prompt});
    await place.session('pod', {agent: 'scribe', prompt});
    await place.session('crash', {agent: 'scribe', prompt: 'remember colour green\ncrash 3'});
    await place.session('memory', {agent: 'hungry', prompt: 'remember colour green\noom 4096'});
    await place.session('steady', {agent: 'scribe', prompt: 'remember colour green\npermission go on'});
  });
  afterAll(async () => {
    await place.remove();
  });

  const running = (name: string) =>
    place.untilSession(name, (s) => s.status?.phase === 'Running' && s.status.runner?.state === 'Ready');
  const recalls = async (session: string, sequence: number) => {
    await place.turn(`${session}-${sequence}`, session, 'recall colour');
    const turn = await place.untilTurn(session, sequence);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('green')});
  };

  it('a crash of the agent fails its turn and nothing else', async () => {
    const turn = await place.untilTurn('crash', 1);
    expect(turn.status).toMatchObject({phase: 'Failed', error: {code: 'agent_exited'}});
    expect(turn.status?.error?.message).toContain('code 3');
    await recalls('crash', 2);
    expect((await place.get('crash')).status).toMatchObject({attempt: 1, phase: expect.stringMatching(/Idle|Running/)});
  });

  it('an agent that is killed again and again is given up in the end; restart leads out', async () => {
    for (const sequence of [3, 4, 5]) {
      await place.turn(`crash-${sequence}`, 'crash', 'kill');
      const turn = await place.untilTurn('crash', sequence);
      expect(turn.status).toMatchObject({phase: 'Failed', error: {code: 'agent_killed'}});
    }
    const failed = await place.untilSession('crash', (s) => s.status?.phase === 'Failed');
    expect(failed.status).toMatchObject({stoppedReason: 'AgentKilled', attempt: 1});
    await until(60_000, async () => expect(await podsOf(place, 'crash')).toEqual([]));
    expect(await describeSession(place, 'crash')).toMatch(/Next: .*raise spec.restart/);
    await change(place, 'sessions', 'crash', {restart: 1});
    await place.untilSession('crash', (s) => s.status?.phase === 'Idle');
    await recalls('crash', 6);
    expect((await place.get('crash')).status).toMatchObject({attempt: 2, runner: {conversation: 'Resumed'}});
  });

  it('too little memory is told as such, and the session goes on', async () => {
    const turn = await place.untilTurn('memory', 1);
    expect(turn.status).toMatchObject({phase: 'Failed', error: {code: 'out_of_memory'}});
    await recalls('memory', 2);
    await until(60_000, async () =>
      expect((await eventsOf(place, 'memory')).map((e) => e.reason)).toContain('OutOfMemory'),
    );
  });

  it('a runner that is killed in the middle of a turn: outcome unknown, next epoch, conversation resumed', async (t) => {
    const session = await running('runner');
    const pid = await processOf(place, session.status?.pod?.uid ?? '', 'runner');
    if (pid === undefined) return t.skip('the processes of this cluster cannot be seen from here');
    process.kill(pid, 'SIGKILL');
    const turn = await place.untilTurn('runner', 1);
    expect(turn.status).toMatchObject({phase: 'Failed', error: {code: 'outcome_unknown'}});
    await recalls('runner', 2);
    const after = await place.get('runner');
    expect(after.status).toMatchObject({attempt: 1, runner: {epoch: 2, state: 'Ready', conversation: 'Resumed'}});
    expect(after.status?.pod?.uid).toBe(session.status?.pod?.uid);
  });

  it('a pod that somebody deletes in the middle of a turn: outcome unknown, and a new attempt', async () => {
    const session = await running('pod');
    await place.kubectl(['delete', 'pod', session.status?.pod?.name ?? '', '--wait=false']);
    const turn = await place.untilTurn('pod', 1);
    expect(turn.status).toMatchObject({
      phase: 'Failed',
      error: {code: 'outcome_unknown'},
    });
    await place.turn('pod-2', 'pod', 'what now?');
    // It is told, with the next prompt, what it cannot know.
    expect((await place.untilTurn('pod', 2)).status?.response).toContain('Turn 1 broke off');
    await recalls('pod', 3);
    const after = await place.get('pod');
    expect(after.status).toMatchObject({attempt: 2, runner: {conversation: 'Resumed'}});
    expect(after.status?.timeline?.map((e) => e.event)).toContain('Lost');
    expect(await podsOf(place, 'pod')).toEqual([after.status?.pod?.name]);
  });

  it('the controller is replaced in the middle of a turn, and nothing is lost or done twice', async () => {
    const question = await openQuestion(place, 'steady', 'Permission');
    const {kubectl} = place.release;
    const selector = ['-n', RELEASE_NAMESPACE, '-l', 'app.kubernetes.io/component=controller'];
    await kubectl(['delete', 'pod', ...selector, '--wait=false']);
    await place.turn('meanwhile', 'steady', 'recall colour');
    await answer(place, question, {option: 'allow'});
    expect((await place.untilTurn('steady', 1)).status).toMatchObject({phase: 'Completed'});
    expect((await place.untilTurn('steady', 2)).status).toMatchObject({response: expect.stringContaining('green')});
    // The new leader counts the turn a moment after the gateway has ended it.
    const counted = await place.untilSession('steady', (s) => s.status?.turns === 2);
    expect(counted.status).toMatchObject({attempt: 1});
    await kubectl(['-n', RELEASE_NAMESPACE, 'rollout', 'status', 'deployment/carrel-controller', '--timeout=120s']);
  });

  it('the transcript is there after the pod is gone, and after the archive was started again', async () => {
    await change(place, 'sessions', 'steady', {desired: 'Closed'});
    await place.untilSession('steady', (s) => s.status?.phase === 'Closed');
    await until(60_000, async () => expect(await podsOf(place, 'steady')).toEqual([]));
    const before = await transcript(place, 'steady');
    expect(before.filter((r) => r.kind === 'prompt').map((r) => r.text)).toEqual([
      'remember colour green\npermission go on',
      'recall colour',
    ]);
    const {kubectl} = place.release;
    await kubectl(['-n', RELEASE_NAMESPACE, 'delete', 'pod', 'carrel-archive-0', '--wait=true', '--timeout=90s']);
    await kubectl(['-n', RELEASE_NAMESPACE, 'rollout', 'status', 'statefulset/carrel-archive', '--timeout=120s']);
    const after = await until(120_000, () => transcript(place, 'steady'));
    expect(after).toEqual(before);
  });
});
