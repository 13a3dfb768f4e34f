import {describe, expect, it} from 'vitest';
import {session} from '../../../test/support/session-objects.ts';
import {chooseRevision} from './revision-choice.ts';

describe('an Agent that does not exist', () => {
  it.each([
    [[], 'the namespace has none'],
    [['b', 'a'], 'there are a, b'],
    [['g', 'f', 'e', 'd', 'c', 'b', 'a'], 'there are a, b, c, d, e and 2 more'],
  ])('both ways out are told, and which Agents there are: %j', (agents, there) => {
    const choice = chooseRevision({session: session(undefined), agent: undefined, published: undefined, agents});
    expect(choice).toEqual({
      kind: 'Blocked',
      reason: 'AgentNotFound',
      message: `spec.agent: no Agent named scribe exists in this namespace; create it, or delete this Session and create it again with another agent (${there}): spec.agent cannot be changed`,
    });
  });
});
