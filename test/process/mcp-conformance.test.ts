// The scenarios of @modelcontextprotocol/conformance against the real door of a gateway: once before fixtures that have
// everything a scenario can call, once before the tools that are shipped.
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {startFixtureFront, startKeyProxy} from '../support/conformance/front.ts';
import {failures, type Outcomes, runRequirements} from '../support/conformance/run.ts';
import {type GatewayFixture, startGatewayFixture} from '../support/gateway-fixture.ts';

/** Extensions and pending scenarios: they run, but the revision does not require them, and nothing here offers them. */
const UNSCORED =
  /^(tasks-|json-schema-2020-12$|http-custom-header-server-validation$|server-session-lifecycle$|server-sse-polling$|sep-2640-)/;

/** A stateless server has no way to ask an older client anything in the middle of a call. */
const NO_WAY_TO_ASK = [
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'tools-call-elicitation',
  'tools-call-sampling',
];

/** Scenarios of both revisions that need no fixture: all of them must pass before the shipped tools. */
const SHIPPED = {
  '2026-07-28': [
    'tools-list',
    'dns-rebinding-protection',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'input-required-result-unsupported-methods',
    'input-required-result-missing-input-response',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
    'http-header-validation',
  ],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams'],
} as const;

/** Checks of otherwise passing scenarios that call a fixture, or a kind of thing that the gateway does not serve. */
const NOT_SERVED: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-no-log-without-loglevel',
    'sep-2575-server-rejects-undeclared-capability',
  ],
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
};

let fixture: GatewayFixture;
let proxy: Awaited<ReturnType<typeof startKeyProxy>>;
let url: string;
beforeAll(async () => {
  proxy = await startKeyProxy();
  url = `http://127.0.0.1:${proxy.port}/mcp`;
  fixture = await startGatewayFixture({origins: [`http://127.0.0.1:${proxy.port}`]});
});
afterAll(async () => {
  await proxy.close();
  await fixture.close();
});

const scored = (outcomes: Outcomes) => [...outcomes.keys()].filter((name) => !UNSCORED.test(name));

describe('Z-002 conformance of the front, before fixtures', () => {
  let front: Awaited<ReturnType<typeof startFixtureFront>>;
  beforeAll(async () => {
    front = await startFixtureFront(fixture, [`http://127.0.0.1:${proxy.port}`]);
    proxy.aim(front.ports.main);
  });
  afterAll(() => front.stop());

  it('2026-07-28: every required scenario passes', async () => {
    const outcomes = await runRequirements(url, '2026-07-28');
    expect(scored(outcomes)).toHaveLength(38);
    expect(failures(outcomes, scored(outcomes))).toEqual({});
  });

  it('2025-11-25: all pass but those in which a server asks its client', async () => {
    const outcomes = await runRequirements(url, '2025-11-25');
    expect(scored(outcomes)).toHaveLength(30);
    expect(Object.keys(failures(outcomes, scored(outcomes))).sort()).toEqual(NO_WAY_TO_ASK);
  });
});

describe('Z-002 conformance of the gateway with its own tools', () => {
  beforeAll(() => proxy.aim(fixture.gateway.ports.main));

  it('2026-07-28: what needs no fixture passes, and of the rest only what calls one fails', async () => {
    const outcomes = await runRequirements(url, '2026-07-28');
    expect(failures(outcomes, SHIPPED['2026-07-28'])).toEqual({});
    for (const [scenario, checks] of Object.entries(NOT_SERVED)) {
      const failed = outcomes.get(scenario)?.map((text) => text.split(':')[0]);
      expect(failed?.sort()).toEqual(checks);
    }
  });

  it('2025-11-25: what needs no fixture passes', async () => {
    expect(failures(await runRequirements(url, '2025-11-25'), SHIPPED['2025-11-25'])).toEqual({});
  });
});
