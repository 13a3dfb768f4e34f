import {classifyInboundRequest} from '@modelcontextprotocol/server';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {META} from '../../test/support/gateway-fixture.ts';
import {isPlainlyOlder} from './mcp.ts';

describe('which era a message belongs to', () => {
  const params = fc.oneof(
    fc.constant(undefined),
    fc.constant({}),
    fc.record({_meta: fc.oneof(fc.constant({progressToken: 1}), fc.constant(META), fc.constant({}), fc.string())}),
    fc.record({protocolVersion: fc.constantFrom('2025-11-25', '2026-07-28'), _meta: fc.constantFrom({}, META)}),
    fc.anything(),
  );
  const body = fc.oneof(
    fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0'),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.constantFrom('initialize', 'tools/call', 'tools/list', 'server/discover', ''),
        params,
        result: fc.constant({}),
      },
      {requiredKeys: []},
    ),
    fc.anything(),
  );
  const version = fc.constantFrom(undefined, '2026-07-28', '2025-11-25', '2024-11-05', ' 2025-11-25', '1999-01-01', '');

  test('what is called older at a glance, the SDK calls older too', () => {
    const plain = {jsonrpc: '2.0', id: 1, method: 'tools/list'};
    expect([isPlainlyOlder('2025-11-25', plain), isPlainlyOlder(undefined, plain)]).toEqual([true, true]);
    fc.assert(
      fc.property(body, version, (message, named) => {
        if (!isPlainlyOlder(named, message)) return;
        const header = named === undefined ? {} : {protocolVersionHeader: named};
        expect(classifyInboundRequest({httpMethod: 'POST', body: message, ...header})).toMatchObject({
          kind: 'legacy',
          reason: expect.stringMatching(/^(no-claim|initialize)$/),
        });
      }),
      {numRuns: 5_000},
    );
  });
});
