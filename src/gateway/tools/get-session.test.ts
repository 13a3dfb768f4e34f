import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type GatewayFixture, startWithWriter} from '../../../test/support/gateway-fixture.ts';
import {Turns} from '../../kube/kinds.ts';

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await startWithWriter();
});
afterEach(() => fixture.close());

describe('get_session', () => {
  test('Z-058 Z-061 both sections are there for a session alone, explicitly empty', async () => {
    fixture.addSession('one', {title: 'Alone'}, {phase: 'Idle'});
    await fixture.settle();
    const text = await fixture.call('get_session', {session_id: 'one'});
    expect(text).toContain(
      '### Session Hierarchy\n\n- one "Alone" [Idle] (this session)\n\nNo parent and no children.',
    );
    expect(text).toContain('### Human Messages\n\nNone: no person has written');
  });

  test('Z-060 Z-062 human messages of the whole tree are marked here and elsewhere; messages make no edge', async () => {
    const parent = fixture.addSession('parent');
    const requester = {session: 'parent', uid: parent.metadata.uid};
    fixture.addSession('child', {requester});
    const turn = (name: string, session: string, kind: 'Human' | 'Agent', text: string) =>
      fixture.api.put(Turns, {
        metadata: {namespace: 'team-a', name},
        spec: {session, input: [{text}], delivery: 'Queue', author: {kind, name: 'jane', channel: 'kubectl'}},
      });
    turn('t1', 'parent', 'Human', 'make a plan');
    turn('t2', 'child', 'Human', 'be quick');
    turn('t3', 'child', 'Agent', 'machine words');
    await fixture.settle();
    const text = await fixture.call('get_session', {session_id: 'child'});
    expect(text).toContain('- parent [Pending]\n  - child [Pending] (this session)');
    expect(text).toMatch(/jane \(kubectl\) \[elsewhere: parent\]: make a plan/);
    expect(text).toMatch(/jane \(kubectl\) \[here\]: be quick/);
    expect(text).not.toContain('machine words');
  });

  test('Z-158 an unknown session is an error result with its name', async () => {
    expect(await fixture.call('get_session', {session_id: 'nobody'})).toMatch(/"isError":true/);
    expect(await fixture.call('get_session', {session_id: 'nobody'})).toContain(
      'session_not_found: No session "nobody"',
    );
  });
});
