import {expect, test} from 'vitest';
import {type KeyMounted, sayMissingKey} from './missing.ts';

const place = {namespace: 'team-a', secret: 'llm', key: 'api-key', origin: 'https://model.example'};

test.each<[string, KeyMounted, string | undefined]>([
  [
    'nothing mounted',
    {key: undefined, origin: undefined},
    `the Secret "llm" of model.key does not exist, or has neither of the keys "api-key" and "origin": kubectl create secret generic llm -n team-a --from-literal='api-key=<provider key>' --from-literal=origin=https://model.example (if it exists, add them to it)`,
  ],
  [
    'no key',
    {key: undefined, origin: 'https://model.example'},
    `the Secret "llm" of model.key has no key "api-key": kubectl patch secret llm -n team-a --type=merge -p '{"stringData":{"api-key":"<provider key>"}}'`,
  ],
  [
    'no origin',
    {key: 'k', origin: undefined},
    `the Secret "llm" of model.key has no key "origin": kubectl patch secret llm -n team-a --type=merge -p '{"stringData":{"origin":"https://model.example"}}'`,
  ],
  [
    'both empty',
    {key: '\n', origin: ''},
    `the Secret "llm" of model.key has an empty "api-key" and has an empty "origin": kubectl patch secret llm -n team-a --type=merge -p '{"stringData":{"api-key":"<provider key>","origin":"https://model.example"}}'`,
  ],
  ['all there', {key: 'k', origin: 'https://other.example'}, undefined],
])('%s: the Secret, what it lacks and the command are named', (_name, mounted, says) => {
  expect(sayMissingKey(place, mounted)).toBe(says);
});
