import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {down, up} from '../../../hack/cluster/cluster.ts';
import {run} from '../../../hack/cluster/command.ts';
import {install, RELEASE_NAMESPACE} from '../../../hack/environment.ts';
import type {Images} from '../../../hack/image/build.ts';
import {openRelease, Place, releaseOf, until} from '../../support/release.ts';
import {attempt} from '../api/attempt.ts';
import {makeApiPlace} from '../api/place.ts';
import {UNSTAMPED} from '../api/unstamped-writers.ts';
import {rights} from '../api/writers.ts';
import {
  type Cell,
  enterCell,
  expectNoChange,
  expectNoLookInside,
  expectNoSecretFound,
  expectNoTrace,
  makeCell,
} from '../isolation/cell.ts';
import {change, openQuestion} from '../session/person.ts';
import {type BareAgent, bareAgents, targetOf} from './agents.ts';

const NAME = 'fallback';
const WITHOUT_IMAGE_VOLUMES = ['--emulated-version=1.35', '--feature-gates=ImageVolume=false'];

describe('the runtime in a cluster whose API server drops image volumes without a word', () => {
  let place: Place;
  let agents: Record<string, BareAgent>;
  let upgrade: () => Promise<void>;

  beforeAll(async () => {
    const {images: built} = await openRelease();
    const cluster = await up({name: NAME, nodes: 1, apiserverArgs: WITHOUT_IMAGE_VOLUMES});
    // The same images by the same digests; the runtime alone is more than 100 MB, so it is copied and not built again.
    const copy = async (reference: string): Promise<string> => {
      const there = `${cluster.registry}${reference.slice(reference.indexOf('/'))}`;
      const tag = `${there.slice(0, there.indexOf('@'))}:copy`;
      await run(cluster.tools.crane, ['copy', '--insecure', reference, tag]);
      return there;
    };
    const images: Images = {...built};
    for (const name of ['runtime', 'scriptedAgent', 'workspace', 'busybox'] as const)
      images[name] = await copy(built[name]);
    const light = {replicas: 1};
    upgrade = () => install(cluster, images, {gateway: light, egress: light});
    await upgrade();
    const release = releaseOf(cluster, images);
    place = await Place.make(release, 'fallback');
    agents = await bareAgents(images, targetOf(release));
    // One first: it is its pod that shows what this cluster lacks.
    await place.agent('scribe', {workspace: {size: '64Mi', image: images.workspace}});
    await place.session('scribe', {agent: 'scribe', prompt: 'read LICENSE'});
    await place.agent('empty', {workspace: {size: '64Mi', image: images.busybox}});
    await place.session('empty', {agent: 'empty', prompt: 'hello'});
    for (const [name, {spec}] of Object.entries(agents)) {
      await place.create('Agent', name, spec);
      await place.session(name, {agent: name, prompt: 'hello'});
    }
    await makeCell(place);
  }, 900_000);
  afterAll(() => down(NAME), 300_000);

  it('Auto copies it by an init container instead and says so, and a seeded session works', async () => {
    const turn = await place.untilTurn('scribe', 1, 240_000);
    expect(turn.status).toMatchObject({phase: 'Completed'});
    expect(turn.status?.response).toContain('Apache License');
    const events = await place.kubectl([
      'get',
      'events',
      '--field-selector=reason=RuntimeSwitched',
      '-o',
      'jsonpath={.items[*].note}{.items[*].message}',
    ]);
    expect(events).toContain('copied by an init container from now on');
    const pod = (await place.pods()).find((one) => one.metadata.labels?.['carrel.dev/session'] === 'scribe');
    expect(pod?.spec?.initContainers?.map((one) => one.name)).toEqual(['runner', 'runtime', 'seed']);
    // Dropped volumes are not taken for a foreign or changed pod: the first attempt is the one that runs.
    expect((await place.get('scribe')).status).toMatchObject({attempt: 1});
  }, 300_000);

  it('a workspace image without a folder to seed from is told there too, where the seed container runs in it', async () => {
    const {status} = await place.untilSession('empty', (s) => s.status?.phase === 'Failed', 240_000);
    expect(status).toMatchObject({stoppedReason: 'StartFailed', attempt: 1});
    expect(status?.conditions?.find((c) => c.type === 'Failed')?.message).toMatch(
      /workspace.image of the Agent, \S+\/busybox@sha256:\S+, has no folder \/workspace to seed from: /,
    );
  }, 300_000);

  it.each(['busybox', 'static'])(
    'an image without glibc or anything of ours runs a turn there: %s',
    async (name) => {
      const turn = await place.untilTurn(name, 1, 240_000);
      expect(turn.status).toMatchObject({phase: 'Completed', stopReason: 'EndTurn'});
      expect(turn.status?.response).toContain(agents[name]?.answer);
    },
    300_000,
  );

  describe("what the agent's user finds there, where the runtime is a copy in a volume that its group may write", () => {
    let cell: Cell;
    beforeAll(async () => {
      cell = await enterCell(place);
    }, 300_000);

    it('the copy is what it runs: an emptyDir of the pod, whose folder its group may write but for the mount', async () => {
      const pod = (await place.pods()).find((one) => one.metadata.name === cell.pod);
      const runtime = pod?.spec?.volumes?.find((one) => one.name === 'carrel-runtime');
      expect(runtime).toEqual({name: 'carrel-runtime', emptyDir: {}});
      expect(pod?.spec?.securityContext).toMatchObject({fsGroup: cell.seen.uid});
      const stat = ['exec', cell.pod, '-c', 'agent', '--', '/bin/busybox', 'stat', '-c', '%a %g', '/carrel'];
      expect((await place.kubectl(stat)).trim()).toBe(`2777 ${cell.seen.uid}`);
    });

    it('it cannot write below /carrel, and cannot read the binaries', () => {
      expectNoChange(cell);
    });

    it('it can look into neither shim nor init', () => {
      expectNoLookInside(cell);
    });

    it('it can trace neither shim nor init', async () => {
      await expectNoTrace(cell);
    });

    it('no file, environment or entry of /proc and /sys holds a key or a token', async () => {
      await expectNoSecretFound(cell);
    });
  });

  it('a question is answered there by the command that it shows, though nothing stamps who answers', async () => {
    await place.session('asks', {agent: 'scribe', prompt: 'permission paint the wall'});
    const question = await openQuestion(place, 'asks', 'Permission');
    const shown = question.status?.conditions?.find((c) => c.type === 'Ready')?.message ?? '';
    const patch = / -p '(.*)'$/.exec(shown)?.[1]?.replace('<one of: allow, reject>', 'allow') ?? '';
    await change(place, 'questions', question.metadata.name, JSON.parse(patch).spec);
    expect((await place.untilTurn('asks', 1, 240_000)).status).toMatchObject({phase: 'Completed'});
    const [answered] = await place.questions('asks');
    expect(answered?.spec).toMatchObject({answer: {option: 'allow'}});
    expect(answered?.spec.answeredBy).toBeUndefined();
  }, 300_000);

  it('who leaves names out is not named there, and nobody is named by another', async () => {
    const people = await makeApiPlace('unstamped', place.release.cluster);
    await people.kubectl(['apply', '-f', '-'], {apiVersion: 'v1', kind: 'List', items: rights(people.namespace)});
    for (const [at, row] of UNSTAMPED.entries()) await attempt(people, row, `u${at}`);
    await people.remove();
  }, 300_000);

  it('an archive that cannot start after an upgrade is mended by the next one', async () => {
    const {cluster, images} = place.release;
    const inRelease = (...args: string[]) => cluster.kubectl(['-n', RELEASE_NAMESPACE, ...args]);
    const missing = images.runtime.replace(/@.*/, `@sha256:${'0'.repeat(64)}`);
    await inRelease('set', 'image', 'statefulset/carrel-archive', `archive=${missing}`);
    const waiting = [
      'get',
      'pod',
      'carrel-archive-0',
      '-o',
      'jsonpath={.status.containerStatuses[0].state.waiting.reason}',
    ];
    await until(120_000, async () => expect(await inRelease(...waiting)).toMatch(/ImagePull/));
    await upgrade();
  });

  // This cluster is the test's own, so the release may go.
  it('an upgrade brings the CRDs to what the chart says; an uninstall keeps them, with every object of theirs', async () => {
    const {cluster} = place.release;
    const version = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/title';
    const older = JSON.stringify([{op: 'remove', path: version}]);
    const title = [
      'get',
      'crd',
      'sessions.carrel.dev',
      '-o',
      `jsonpath={${version.replaceAll('/', '.').replace('.0.', '[0].')}.type}`,
    ];
    expect(await cluster.kubectl(title)).toBe('string');
    await cluster.kubectl(['patch', 'crd', 'sessions.carrel.dev', '--type=json', '-p', older]);
    expect(await cluster.kubectl(title)).toBe('');
    await upgrade();
    expect(await cluster.kubectl(title)).toBe('string');
    const env = {KUBECONFIG: cluster.kubeconfigPath};
    await run(cluster.tools.helm, ['uninstall', 'carrel', '--namespace', RELEASE_NAMESPACE, '--wait'], {env});
    expect(await cluster.kubectl(['-n', RELEASE_NAMESPACE, 'get', 'deployments,statefulsets', '-o', 'name'])).toBe('');
    const crds = await cluster.kubectl(['get', 'crds', '-o', 'name']);
    for (const kind of ['agents', 'sessions', 'turns', 'questions']) expect(crds).toContain(`/${kind}.carrel.dev`);
    expect((await place.get('scribe')).status?.turns).toBe(1);
    expect((await place.turns('scribe'))[0]?.status?.response).toContain('Apache License');
  }, 300_000);
});
