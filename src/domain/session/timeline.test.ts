import {describe, expect, it} from 'vitest';
import {ago, NOW} from '../../../test/support/session-objects.ts';
import {happenedSince, LOSSES_WITHIN_MS, stepsWithin, withStep} from './timeline.ts';

const many = (event: string, times: number, seconds = 50) =>
  Array.from({length: times}, () => ({time: ago(seconds), event}));
const lost = (seconds: number) => ({time: ago(seconds), event: 'Lost'});
const started = (seconds: number) => ({time: ago(seconds), event: 'Started'});

const FULL: Record<string, {before: {time: string; event: string}[]; after: string[]}> = {
  'the oldest falls out': {
    before: [started(99), ...many('Archived', 18), started(40)],
    after: [...many('Archived', 18).map((e) => e.event), 'Started', 'Sleeping'],
  },
  'losses that still count stay, and what was before them goes': {
    before: [...many('Archived', 1), lost(300), lost(200), started(90), ...many('Archived', 16)],
    after: ['Lost', 'Lost', 'Started', ...many('Archived', 16).map((e) => e.event), 'Sleeping'],
  },
  'losses that still count stay, and what was after them goes': {
    before: [lost(300), lost(200), started(90), ...many('Archived', 17)],
    after: ['Lost', 'Lost', 'Started', ...many('Archived', 16).map((e) => e.event), 'Sleeping'],
  },
  'a loss that counts no more falls out like all others': {
    before: [lost(601), started(90), ...many('Archived', 18)],
    after: ['Started', ...many('Archived', 18).map((e) => e.event), 'Sleeping'],
  },
  'where each step is needed, the oldest falls out': {
    before: [...many('Lost', 18), started(90), ...many('Lost', 1)],
    after: [...many('Lost', 17).map((e) => e.event), 'Started', 'Lost', 'Sleeping'],
  },
};

describe('the timeline of a session', () => {
  it.each(Object.entries(FULL))('full: %s', (_name, {before, after}) => {
    expect(before).toHaveLength(20);
    expect(withStep(before, 'Sleeping', NOW).map((e) => e.event)).toEqual(after);
  });

  it('flips of spec.desired make nobody forget how many pods were lost, and in which attempt', () => {
    let timeline = [lost(300), started(290), lost(200), started(190)];
    for (let flip = 0; flip < 50; flip++) timeline = withStep(timeline, 'Archived', NOW);
    expect(timeline).toHaveLength(20);
    expect(stepsWithin(timeline, 'Lost', NOW, LOSSES_WITHIN_MS)).toBe(2);
    expect(happenedSince(timeline, 'Lost', 'Started')).toBe(false);
  });
});
