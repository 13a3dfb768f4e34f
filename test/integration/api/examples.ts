import type {Json} from '../../../src/api/json.ts';

/** A reference by digest that looks like one. */
export const IMAGE = `registry.example/agent@sha256:${'a'.repeat(64)}`;

/** The smallest valid spec of each kind. */
export const VALID = {
  Agent: {image: IMAGE, command: ['/bin/agent']},
  Session: {agent: 'scribe'},
  Turn: {session: 'first', input: [{text: 'hello'}]},
  Question: {session: 'first', turn: 'first-1', kind: 'Ask', text: 'Which one?', options: [{id: 'a', label: 'A'}]},
} as const satisfies Record<string, Json>;

/** What the controller says of an open Question whose answer does not fit. */
export const MISFIT: Json = {
  phase: 'Open',
  conditions: [
    {
      type: 'AnswerInvalid',
      status: 'True',
      reason: 'AnswerInvalid',
      message: 'the answer does not fit the form',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
};

export type KindName = keyof typeof VALID;

/** An object of a kind: the smallest valid one, with members of its spec replaced. */
export function example(kind: KindName, name: string, spec: Json = {}): Json {
  return {apiVersion: 'carrel.dev/v1alpha1', kind, metadata: {name}, spec: {...VALID[kind], ...spec}};
}
