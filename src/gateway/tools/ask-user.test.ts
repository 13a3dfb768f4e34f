import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, startWithWriter} from '../../../test/support/gateway-fixture.ts';
import {systemClock} from '../../kube/clock.ts';
import {Questions} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
const start = async (options: Parameters<typeof startWithWriter>[0]) => {
  fixture = await startWithWriter(options);
};
beforeEach(() => start({askWaitMs: 60_000}));
afterEach(() => fixture.close());

describe('ask_user', () => {
  const ask = {question: 'Which colour?', options: [{id: 'r', label: 'Red'}]};
  const running = async () => {
    const {session, token} = fixture.addRunning('one', 'writer', {
      status: {activeTurn: {name: 't1', uid: 'turn-uid', sequence: 1}},
    });
    await fixture.settle();
    return {session, headers: {authorization: `Bearer ${token}`}};
  };

  test('waits, and gives the answer that came at another replica', async () => {
    await fixture.close();
    let later = 0;
    await start({askWaitMs: 60_000, clock: {...systemClock, now: () => Date.now() + later}});
    const {headers} = await running();
    const answered = fixture.call('ask_user', ask, headers);
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    const [question] = fixture.api.list(Questions);
    if (question === undefined) throw new Error('no question');
    const asked = Date.now();
    later = 3_600_000;
    fixture.api.put(Questions, {
      ...question,
      spec: {...question.spec, answer: {option: 'r'}, answeredBy: 'jane'},
      status: {phase: 'Answered'},
    });
    expect(await answered).toContain('"structuredContent":{"status":"answered"');
    expect(await answered).toContain('"option":"r","answered_by":"jane"');
    const deliveredAt = fixture.api.list(Questions)[0]?.status?.deliveredAt ?? '';
    expect(Date.parse(deliveredAt), 'when the answer was taken').toBeGreaterThanOrEqual(asked + later - 1_000);
  });

  test('a question that somebody deletes is withdrawn: no answer will arrive', async () => {
    const {headers} = await running();
    const answered = fixture.call('ask_user', ask, headers);
    await expect.poll(() => fixture.api.list(Questions).length).toBe(1);
    const [question] = fixture.api.list(Questions);
    fixture.api.drop(Questions, {namespace: question?.metadata.namespace, name: question?.metadata.name ?? ''});
    expect(await answered).toContain('"status":"withdrawn"');
  });

  test('answers pending after its wait, and the same question is the same object', async () => {
    await fixture.close();
    await start({askWaitMs: 1});
    const {headers} = await running();
    expect(await fixture.call('ask_user', ask, headers)).toContain('"status":"pending"');
    expect(await fixture.call('ask_user', ask, headers)).toContain('"status":"pending"');
    expect(fixture.api.list(Questions)).toHaveLength(1);
    await fixture.call('ask_user', {...ask, idempotency_key: 'again'}, headers);
    expect(fixture.api.list(Questions)).toHaveLength(2);
    expect(fixture.api.list(Questions)[0]?.spec).toMatchObject({session: 'one', turn: 't1', kind: 'Ask', to: 'Owner'});
  });

  test('without a running turn there is nobody to ask for', async () => {
    const {token} = fixture.addRunning('one', 'writer');
    await fixture.settle();
    expect(await fixture.call('ask_user', ask, {authorization: `Bearer ${token}`})).toContain('no_active_turn');
  });
});
