import {Agent, type AgentObject, type AgentSpec} from '../../src/api/v1alpha1/index.ts';
import {type RevisionData, revisionData} from '../../src/domain/agent/revision.ts';

/** A digest that looks like one. */
export const DIGEST = `sha256:${'a'.repeat(64)}`;

/** Range of unix uids that fixtures use. */
export const RANGE = {first: 200_000, last: 265_535};

/** An Agent as the API server returns it, with every default filled in. */
export function agentFixture(spec: Partial<AgentSpec> = {}, status?: AgentObject['status']): AgentObject {
  return {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Agent',
    metadata: {
      name: 'scribe',
      namespace: 'team-a',
      uid: '11111111-2222-3333-4444-555555555555',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {...Agent.spec.parse({image: `registry.example/agent@${DIGEST}`, command: ['/bin/agent']}), ...spec},
    ...(status === undefined ? {} : {status}),
  };
}

/** The revision that publishing that Agent gives. */
export function revisionFixture(spec: Partial<AgentSpec> = {}): RevisionData {
  return revisionData(agentFixture(spec), RANGE);
}

/** Identity of a Session. */
export const SESSION = {name: 'first', uid: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', namespace: 'team-a'};
