import {expect, it} from 'vitest';
import {leavingAccount} from './account.ts';

const metadata = {
  name: 'carrel-scribe',
  namespace: 'team',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const away = {...metadata, deletionTimestamp: '2026-01-01T00:00:00Z'};
const kind = {apiVersion: 'v1', kind: 'ServiceAccount'};

it.each([
  ['is there', metadata, undefined],
  ['goes by itself', away, 'ServiceAccount carrel-scribe of the Agent is being deleted. Once it is gone'],
  [
    'is held',
    {...away, finalizers: ['x.example/f']},
    'is being deleted, and finalizers hold it: x.example/f (see who set them; if nobody takes them away: kubectl edit serviceaccount carrel-scribe -n team). Once',
  ],
])('a ServiceAccount that %s', (_state, of, says) => {
  const refused = leavingAccount({...kind, metadata: of});
  if (says === undefined) expect(refused).toBeUndefined();
  else
    expect(refused).toMatchObject({
      reason: 'ServiceAccountReplaced',
      message: expect.stringContaining(says),
      retryMs: 5_000,
    });
});
