import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type AnyResource, toCrd} from '../../../src/api/crd.ts';
import {isJson} from '../../../src/api/json.ts';
import {KINDS} from '../../../src/api/v1alpha1/index.ts';
import {items, text} from '../../../src/kube/typed.ts';
import {crdFiles} from '../../support/crds.ts';
import {example} from './examples.ts';
import {ALLOWED_CHANGES, INVALID_CHANGES, type InvalidChange} from './invalid-changes.ts';
import {FULL_AGENT, INVALID_OBJECTS} from './invalid-objects.ts';
import {type ApiPlace, makeApiPlace, PLATFORM} from './place.ts';

const kinds: readonly AnyResource[] = KINDS;
const resource = (kind: string) => `${kind.toLowerCase()}s.carrel.dev`;

let place: ApiPlace;
beforeAll(async () => {
  place = await makeApiPlace('crds');
});
afterAll(() => place.remove());

/** Messages of every rule in a schema. */
function ruleMessages(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(ruleMessages);
  if (!isJson(value)) return [];
  const own = items(value, 'x-kubernetes-validations').map((rule) => text(rule, 'message'));
  return [...own, ...Object.values(value).flatMap(ruleMessages)];
}

describe('the CRDs', () => {
  it('are applied without a warning, also a second time', async () => {
    for (const file of await crdFiles()) {
      expect(
        await place.kubectl([
          'apply',
          '--server-side',
          '--force-conflicts',
          '--dry-run=server',
          '--warnings-as-errors',
          '-f',
          file,
        ]),
      ).toContain('serverside-applied');
    }
  });

  it('have the names that they ask for', async () => {
    for (const kind of kinds) {
      const names = await place.kubectl([
        'get',
        'crd',
        `${kind.plural}.${kind.group}`,
        '-o',
        'jsonpath={.status.acceptedNames.shortNames[*]}',
      ]);
      expect(names.split(' ')).toEqual(kind.shortNames);
    }
  });

  it('explain their fields', async () => {
    const explained = await place.kubectl(['explain', 'sessions.carrel.dev.spec.desired']);
    expect(explained.replace(/\s+/g, ' ')).toContain('Sleeping: no pod while nothing is runnable.');
  });

  it('take a full Agent, and fill in what the smallest one leaves out', async () => {
    await place.kubectl(['create', '-f', '-'], example('Agent', 'full', FULL_AGENT));
    await place.kubectl(['create', '-f', '-'], example('Agent', 'small'));
    const small: unknown = JSON.parse(await place.kubectl(['get', 'agents.carrel.dev/small', '-o', 'json']));
    expect(small).toMatchObject({
      spec: {
        groups: ['self_session', 'ask'],
        workspace: {size: '1Gi'},
        limits: {start: '60s', turn: '1h', queued: 32},
        idle: {sleepAfter: '10m'},
        network: {egress: []},
        harness: {noReload: false, assumeMcpHttp: false},
      },
    });
  });
});

describe('an invalid object is refused, and the message says field, value and what is allowed', () => {
  it.each(INVALID_OBJECTS.map((row) => [row.kind, row.state, row] as const))('%s with %s', async (_, __, row) => {
    expect(
      await place.refusal(['create', '--dry-run=server', '-f', '-'], example(row.kind, row.name ?? 'x', row.spec)),
    ).toBe(row.says);
  });
});

/** Makes the object, tries the change, and returns what is said against it. */
async function change(row: Omit<InvalidChange, 'says'>, name: string): Promise<string> {
  await place.kubectl([...PLATFORM, 'create', '-f', '-'], example(row.kind, name, row.spec));
  const target = [...PLATFORM, 'patch', `${resource(row.kind)}/${name}`, '--type=merge'];
  if (row.status !== undefined)
    await place.kubectl([...target, '--subresource=status', '-p', JSON.stringify({status: row.status})]);
  const subresource = row.subresource === undefined ? [] : ['--subresource=status'];
  return place.refusal([...target, ...subresource, '-p', JSON.stringify(row.patch)]);
}

describe('an allowed change passes', () => {
  it.each(ALLOWED_CHANGES.map((row, at) => [row.kind, row.state, row, `a${at}`] as const))(
    '%s: %s',
    async (_, __, row, name) => expect(await change(row, name)).toBe(''),
  );
});

describe('an invalid change is refused', () => {
  it.each(INVALID_CHANGES.map((row, at) => [row.kind, row.state, {...row, name: `c${at}`}] as const))(
    '%s: %s',
    async (_, __, {name, ...row}) => expect(await change(row, name)).toBe(row.says.replace('"x"', `"${name}"`)),
  );
});

it('every rule of every kind has a row above', () => {
  const said = [...INVALID_OBJECTS, ...INVALID_CHANGES].map((row) => `${row.kind}: ${row.says}`);
  const missing = kinds.flatMap((kind) =>
    ruleMessages(toCrd(kind))
      .filter((message) => !said.some((line) => line.startsWith(kind.kind) && line.includes(message)))
      .map((message) => `${kind.kind}: ${message}`),
  );
  expect(missing).toEqual([]);
});
