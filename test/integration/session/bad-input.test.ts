import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {Images} from '../../../hack/image/build.ts';
import {type AgentInput, openRelease, Place, until} from '../../support/release.ts';
import {change, describeSession, eventsOf, podsOf} from './person.ts';

interface Bad {
  agent: AgentInput;
  /** What of the Agent needs the images of the release. */
  images?: (images: Images) => AgentInput;
  /** Reason of the conditions and of the Event. */
  reason: string;
  stopped?: string;
  /** Cause and next step, as the message has them. */
  says: RegExp;
  /** The Event, where it is sent before the start has failed. */
  tells?: RegExp;
  /** What a person does about it; by default the Agent gets good arguments. */
  mend?: () => Promise<unknown>;
}

const LIMITS = {start: '10s'};
const PLENTY = {start: '60s'};
/** An image that is in the registry, by a digest that is not. */
const absent = (image: string) => image.replace(/sha256:[0-9a-f]+$/, `sha256:${'0'.repeat(64)}`);
let place: Place;

const model = (secret: string) => ({
  name: 'm',
  dialect: 'AnthropicMessages' as const,
  baseUrl: 'https://model.example',
  key: {secret, key: 'key'},
});
const secret = (name: string, data: Record<string, string>) => async () => {
  const literals = Object.entries(data).map(([key, value]) => `--from-literal=${key}=${value}`);
  await place.kubectl(['delete', 'secret', name, '--ignore-not-found']);
  await place.kubectl(['create', 'secret', 'generic', name, ...literals]);
};
const goodKey = (name: string) => secret(name, {key: 'k', origin: 'https://model.example'});

/** Agents that cannot start. Each has a session whose prompt must not be lost. */
const CASES: Record<string, Bad> = {
  'no-env-secret': {
    agent: {env: [{name: 'TOKEN', secret: {name: 'not-there', key: 'token'}}], limits: LIMITS},
    reason: 'SecretNotFound',
    says: /secret "not-there" not found; create it\. Next: .*raise spec.restart/,
    tells: /secret "not-there" not found; create it/,
    mend: async () => {
      await secret('not-there', {token: 't'})();
      await change(place, 'agents', 'no-env-secret', {limits: PLENTY});
    },
  },
  'no-model-secret': {
    agent: {model: model('no-key-there')},
    reason: 'SecretNotFound',
    says: /Secret "no-key-there" of model.key does not exist, .*origin=https:\/\/model.example .*Next: .*raise spec.restart/,
    mend: () => goodKey('no-key-there')(),
  },
  'wrong-origin': {
    agent: {model: model('elsewhere')},
    reason: 'OriginMismatch',
    says: /origin must be https:\/\/model.example, or correct model.baseUrl/,
    mend: () => goodKey('elsewhere')(),
  },
  'no-image': {
    agent: {},
    images: ({scriptedAgent}) => ({image: absent(scriptedAgent)}),
    reason: 'ImagePull',
    stopped: 'ImagePull',
    says: /container agent has not got its image .*not found.* Next: correct the image/is,
    mend: () => change(place, 'agents', 'no-image', {image: place.release.images.scriptedAgent}),
  },
  'no-workspace-image': {
    agent: {},
    images: ({workspace}) => ({workspace: {size: '64Mi', image: absent(workspace)}}),
    reason: 'ImagePull',
    stopped: 'ImagePull',
    says: /container seed has not got its image .*not found.* Next: correct the image/is,
    mend: () => change(place, 'agents', 'no-workspace-image', {workspace: {image: place.release.images.workspace}}),
  },
  'no-workspace-folder': {
    agent: {},
    images: ({busybox}) => ({workspace: {size: '64Mi', image: busybox}}),
    reason: 'StartFailed',
    says: /workspace.image of the Agent, \S+\/busybox@sha256:\S+, has no folder \/workspace to seed from: .*Next: /,
    mend: () => change(place, 'agents', 'no-workspace-folder', {workspace: {image: place.release.images.workspace}}),
  },
  'no-command': {
    agent: {command: ['/no/such/program']},
    reason: 'CommandNotFound',
    says: /"\/no\/such\/program" cannot be started: .*Next: correct spec.command/,
    mend: () => change(place, 'agents', 'no-command', {command: ['/usr/local/bin/node', '/app/scripted-agent.js']}),
  },
  'not-acp': {
    agent: {args: ['--not-acp']},
    reason: 'AgentNotAcp',
    says: /does not speak ACP .*check command and args/,
  },
  exits: {
    agent: {args: ['--exit', '3']},
    reason: 'AgentExited',
    stopped: 'AgentExited',
    says: /exited with code 3 before it was ready; its last words: .*Next: check command, args/,
  },
  'says-nothing': {
    agent: {args: ['--silent-exit']},
    reason: 'AgentExited',
    stopped: 'AgentExited',
    says: /exited with code 0 before it was ready; it wrote nothing .*Next: check command, args/,
  },
  'never-answers': {
    agent: {args: ['--never-initialize'], limits: LIMITS},
    reason: 'InitializeTimeout',
    says: /did not answer initialize .*within limits.start \(10 s\)\. Next: .*limits.start/,
    mend: () => change(place, 'agents', 'never-answers', {args: [], limits: PLENTY}),
  },
  'wants-login': {
    agent: {args: ['--needs-login']},
    reason: 'AuthenticationRequired',
    says: /wants a login .*set harness.authMethod/,
    mend: () => change(place, 'agents', 'wants-login', {harness: {authMethod: 'key'}}),
  },
};

const bad = Object.entries(CASES);

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'bad');
  const {images} = place.release;
  await secret('elsewhere', {key: 'k', origin: 'https://other.example'})();
  const good = {
    image: images.scriptedAgent,
    command: ['/usr/local/bin/node', '/app/scripted-agent.js'],
    workspace: {size: '64Mi'},
  };
  const of = (kind: string, name: string, spec: object) => ({
    apiVersion: 'carrel.dev/v1alpha1',
    kind,
    metadata: {name},
    spec,
  });
  const items = bad.flatMap(([name, {agent, images: built}]) => [
    of('Agent', name, {...good, ...agent, ...built?.(images)}),
    of('Session', name, {agent: name, prompt: 'say hello at last'}),
  ]);
  const list = {apiVersion: 'v1', kind: 'List', items: [of('Agent', 'good', good), ...items]};
  await place.kubectl(['create', '-f', '-'], JSON.stringify(list));
});
afterAll(async () => {
  await place.remove();
});

describe('an agent that cannot start is told with cause and next step, and not started again by itself', () => {
  it.each(bad)('%s', async (name, {reason, stopped, says, tells}) => {
    const session = await place.untilSession(name, (s) => s.status?.phase === 'Failed');
    const message = session.status?.conditions?.find((c) => c.type === 'Failed')?.message ?? '';
    expect(message).toMatch(says);
    expect(message).toMatch(
      /Next: .*, then raise spec.restart: kubectl patch sessions.carrel.dev .* '."spec":."restart":1..'$/,
    );
    for (const type of ['Failed', 'Stalled', 'Ready']) {
      const status = type === 'Ready' ? 'False' : 'True';
      expect(session.status?.conditions).toContainEqual(expect.objectContaining({type, status, reason, message}));
    }
    expect(session.status).toMatchObject({stoppedReason: stopped ?? 'StartFailed', attempt: 1});
    await until(60_000, async () => {
      const events = (await eventsOf(place, name)).filter((e) => e.type === 'Warning' && e.reason === reason);
      // What may still be mended within the limit is told before it is over.
      expect(events.map((e) => e.note).join('\n')).toMatch(tells ?? says);
    });
    await until(60_000, async () => expect(await podsOf(place, name)).toEqual([]));
    const described = (await describeSession(place, name)).replaceAll(/\s+/g, ' ');
    expect(described).toContain(reason);
    expect(described).toContain('then raise spec.restart');
    const [turn] = await place.turns(name);
    expect(turn?.status).toMatchObject({phase: 'Queued', sequence: 1});
  });

  it('none of them was tried again', async () => {
    for (const [name] of bad) expect((await place.get(name)).status, name).toMatchObject({phase: 'Failed', attempt: 1});
    expect((await place.pods()).map((p) => p.metadata.name)).toEqual([]);
  });

  it('none of them changed how the runtime comes into pods: no Agent decides that for the others', async () => {
    expect(await place.kubectl(['get', 'events', '--field-selector=reason=RuntimeSwitched', '-o', 'name'])).toBe('');
  });
});

describe('once it is mended and spec.restart is raised, the prompt that waited is answered', () => {
  beforeAll(async () => {
    for (const [name, {mend}] of bad) {
      await (mend ?? (() => change(place, 'agents', name, {args: []})))();
      await published(name);
      await change(place, 'sessions', name, {restart: 1});
    }
  });

  it.each(bad)('%s', async (name) => {
    const turn = await place.untilTurn(name, 1);
    expect(turn.status).toMatchObject({phase: 'Completed', response: expect.stringContaining('hello at last')});
    const session = await place.untilSession(name, (s) => s.status?.phase === 'Idle');
    expect(session.status).toMatchObject({attempt: 2, restart: 1, turns: 1});
    expect(session.status?.stoppedReason).toBeUndefined();
    await place.kubectl(['delete', 'sessions.carrel.dev', name, '--wait=false']);
  });
});

async function published(name: string): Promise<void> {
  await until(60_000, async () => {
    const agent = JSON.parse(await place.kubectl(['get', 'agents.carrel.dev', name, '-o', 'json']));
    expect(agent.status.publishedGeneration).toBe(agent.metadata.generation);
  });
}

describe('a session whose agent cannot be run waits, and says for what', () => {
  it('a tag instead of a digest is refused when it is applied', async () => {
    await expect(place.agent('tagged', {image: 'registry.example/agent:1'})).rejects.toThrow(
      /spec.image: .*registry.example\/agent:1.*must be pinned by digest: name@sha256:.*crane digest/s,
    );
  });

  it.each([
    ['AgentNotFound', /no Agent named absent exists in this namespace; create it/],
    ['AgentNotPublished', /Agent draft has no published revision: .*draft/],
    ['ModelNotAllowed', /spec.model.name: gpt is not allowed by Agent good/],
  ] as const)('%s', async (reason, says) => {
    const name = reason.toLowerCase();
    if (reason === 'AgentNotPublished') await place.agent('draft', {draft: true});
    const spec = {
      AgentNotFound: {agent: 'absent'},
      AgentNotPublished: {agent: 'draft'},
      ModelNotAllowed: {agent: 'good', model: {name: 'gpt'}},
    };
    await place.session(name, {...spec[reason], prompt: 'say hello'});
    const session = await place.untilSession(
      name,
      (s) => s.status?.conditions?.some((c) => c.type === 'Stalled' && c.reason === reason) === true,
    );
    expect(session.status).toMatchObject({phase: 'Pending'});
    expect(session.status?.attempt).toBeUndefined();
    expect(session.status?.conditions?.find((c) => c.type === 'Ready')?.message).toMatch(says);
    await until(60_000, async () =>
      expect((await eventsOf(place, name)).map((e) => [e.type, e.reason])).toContainEqual(['Warning', reason]),
    );
    expect(await describeSession(place, name)).toContain(reason);
    expect((await place.turns(name)).map((t) => t.status?.phase)).toEqual(['Queued']);
  });

  it('goes on by itself when the Agent appears', async () => {
    await place.agent('absent', {workspace: {size: '64Mi'}});
    await change(place, 'agents', 'draft', {draft: false, workspace: {size: '64Mi'}});
    for (const name of ['agentnotfound', 'agentnotpublished'])
      expect((await place.untilTurn(name, 1)).status).toMatchObject({phase: 'Completed'});
  });
});

describe('turns that end without an answer say so', () => {
  it('a turn without a word, a refusal', async () => {
    await place.session('wordless', {agent: 'good', prompt: 'noword'});
    const turn = await place.untilTurn('wordless', 1);
    expect(turn.status).toMatchObject({phase: 'Failed', stopReason: 'EndTurn', error: {code: 'empty_turn'}});
    expect(turn.status?.conditions).toContainEqual(
      expect.objectContaining({type: 'Failed', status: 'True', message: expect.stringContaining('without a word')}),
    );
    await place.turn('refuses', 'wordless', 'refuse');
    const refused = await place.untilTurn('wordless', 2);
    expect(refused.status).toMatchObject({phase: 'Failed', stopReason: 'Refusal', error: {code: 'refused'}});
    await until(60_000, async () =>
      expect((await eventsOf(place, 'refuses')).map((e) => [e.type, e.reason])).toContainEqual(['Warning', 'Failed']),
    );
    await place.turn('fine', 'wordless', 'say it goes on');
    expect((await place.untilTurn('wordless', 3)).status).toMatchObject({phase: 'Completed'});
  });
});
