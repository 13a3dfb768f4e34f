import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {toStructural} from '../api/structural.ts';
import {Agent, Question, Session, Turn} from '../api/v1alpha1/index.ts';
import {freshConditions} from './fresh-conditions.ts';
import {cutBytes, jsonBytes, MAX_STATUS_BYTES, sizedEnd, sizedRunner, sizedSession} from './status-size.ts';
import {endConditions} from './turn/conditions.ts';

const Node = z.object({
  type: z.string(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  maximum: z.number().optional(),
});

/** Names of Kubernetes: their characters have one byte each, whatever the schema allows. */
const PLAIN = /^(name|uid|podUID|sessionUID|turnUID|revision|publishedRevision)$/;

/** The largest value that a schema takes, with `character` in every text. */
function largest(schema: unknown, character: string, member = ''): unknown {
  const node = Node.parse(schema);
  if (node.properties !== undefined)
    return Object.fromEntries(Object.entries(node.properties).map(([k, v]) => [k, largest(v, character, k)]));
  if (node.type === 'array') {
    // Conditions are named by the kind's data, so that there are no more than it has types.
    return Array.from({length: node.maxItems ?? 0}, () => largest(node.items, character));
  }
  if (node.enum !== undefined) return node.enum.toSorted((a, b) => b.length - a.length)[0];
  if (node.format === 'date-time') return '2026-01-01T00:00:00Z';
  if (node.type === 'string') return (PLAIN.test(member) ? 'n' : character).repeat(node.maxLength ?? 0);
  return node.type === 'boolean' ? false : (node.maximum ?? Number.MAX_SAFE_INTEGER);
}

/** Every condition type of the kind at once, with a longer message than any may have. */
function allConditions(kind: {conditions: {types: object; reasons: object}}, character: string) {
  const reason = Object.keys(kind.conditions.reasons).toSorted((a, b) => b.length - a.length)[0] ?? '';
  const message = character.repeat(2_000);
  return Object.keys(kind.conditions.types).map((type) => ({
    type,
    status: 'Unknown' as const,
    reason,
    message,
    observedGeneration: Number.MAX_SAFE_INTEGER,
  }));
}

const now = new Date('2026-01-01T00:00:00Z');
// One, two, three and four bytes; and what JSON writes with two or six.
const CHARACTERS = ['a', 'ß', '漢', '😀', '"', '\u0001'];

describe('statuses stay under 16 KiB, also the largest that the schema of the kind allows', () => {
  it.each(CHARACTERS)('Session, of %j', (character) => {
    const whole = Session.status.parse(largest(toStructural(Session.status), character));
    const conditions = freshConditions(undefined, allConditions(Session, character), now);
    // What the schema allows and no writer of ours makes: names are labels, steps are words of ours.
    const timeline = whole.timeline?.map((step) => ({time: step.time, event: 'Reactivated', note: step.note ?? ''}));
    const label = (ref: {uid: string} | undefined) => ({name: 'n'.repeat(75), uid: ref?.uid.slice(0, 36) ?? ''});
    const status = {
      ...whole,
      conditions,
      timeline,
      revision: 'n'.repeat(70),
      pod: label(whole.pod),
      volume: label(whole.volume),
      initialTurn: label(whole.initialTurn),
      activeTurn: {...label(whole.activeTurn), sequence: Number.MAX_SAFE_INTEGER},
    };
    const runner = whole.runner === undefined ? undefined : sizedRunner({...whole.runner, podUID: 'u'.repeat(36)});
    const sized = sizedSession({...status, runner});
    expect(jsonBytes(sized)).toBeLessThan(MAX_STATUS_BYTES);
    expect(Session.status.parse(sized)).toEqual(JSON.parse(JSON.stringify(sized)));
    expect(sized.conditions).toHaveLength(conditions.length);
    expect(sized.admitted).toHaveLength(33);
    expect(sizedSession(sized)).toEqual(sized);
    // A look that changes nothing comes to the same status, although it starts from the whole messages.
    expect(sizedSession({...sized, conditions})).toEqual(sized);
  });

  it.each(CHARACTERS)('Turn, of %j', (character) => {
    const whole = sizedEnd(Turn.status.parse(largest(toStructural(Turn.status), character)));
    const states = freshConditions(undefined, allConditions(Turn, character), now);
    expect(jsonBytes({...whole, conditions: endConditions({...whole, phase: 'Failed'})})).toBeLessThan(
      MAX_STATUS_BYTES,
    );
    expect(jsonBytes({...whole, response: undefined, conditions: states})).toBeLessThan(MAX_STATUS_BYTES);
  });

  it.each(CHARACTERS)('Agent and Question, of %j', (character) => {
    for (const kind of [Agent, Question]) {
      const conditions = freshConditions(undefined, allConditions(kind, character), now);
      const whole = kind.status.parse(largest(toStructural(kind.status), character));
      expect(jsonBytes({...whole, conditions})).toBeLessThan(MAX_STATUS_BYTES);
    }
  });
});

describe('what is cut', () => {
  it('nothing of a usual session', () => {
    const conditions = freshConditions(
      undefined,
      [{type: 'Ready', status: 'True', reason: 'Idle', message: 'waits'}],
      now,
    );
    const status = {
      phase: 'Idle' as const,
      timeline: [{time: '2026-01-01T00:00:00Z', event: 'Started', note: 'x'}],
      conditions,
    };
    expect(sizedSession(status)).toEqual(status);
  });

  it('notes of the timeline before messages of conditions', () => {
    const timeline = Array.from({length: 20}, () => ({
      time: '2026-01-01T00:00:00Z',
      event: 'Lost',
      note: 'n'.repeat(256),
    }));
    const messages = ['Ready', 'Stalled', 'Failed', 'Reconciling', 'NodeUnreachable', 'RunnerRestarting'];
    const states = messages.map((type) => ({
      type,
      status: 'True' as const,
      reason: 'Idle',
      message: 'm'.repeat(1_024),
    }));
    const sized = sizedSession({timeline, conditions: freshConditions(undefined, states, now)});
    expect(sized.conditions?.every((c) => c.message.length === 1_024)).toBe(true);
    expect(sized.timeline?.every((step) => (step.note?.length ?? 0) <= 96)).toBe(true);
  });

  it('never half a character', () => {
    expect(cutBytes('ab😀', 5)).toBe('ab');
    expect(cutBytes('😀'.repeat(10), 20)).toBe(`${'😀'.repeat(4)}...`);
    const {response} = sizedEnd({phase: 'Completed', response: `${'a'.repeat(100)}${'😀'.repeat(3_000)}`});
    expect(response?.startsWith('…😀')).toBe(true);
    expect(response?.isWellFormed()).toBe(true);
  });

  it('never the name of a conversation: one that is too long is not kept', () => {
    const report = {podUID: 'u', epoch: 1, state: 'Ready' as const};
    expect(sizedRunner({...report, agentSessionId: 's'.repeat(512)}).agentSessionId).toHaveLength(512);
    expect(sizedRunner({...report, agentSessionId: '漢'.repeat(512)}).agentSessionId).toBeUndefined();
  });
});
