import {request as httpRequest} from 'node:http';
import {afterEach, describe, expect, it} from 'vitest';
import {type EgressBench, GOOD, revisionFor, startEgressBench, until} from '../../test/support/egress-bench.ts';
import {POD_NAME, session} from '../../test/support/runner-objects.ts';
import {buildRevision} from '../domain/agent/revision.ts';
import {ControllerRevisions} from '../kube/builtin.ts';
import {Sessions} from '../kube/kinds.ts';
import type {ClusterRanges} from './cluster-ranges.ts';

let bench: EgressBench;
afterEach(() => bench.stop());

describe('a refusal', () => {
  const rows: {
    state: string;
    target?: string;
    headers?: Record<string, string>;
    status: number;
    code: string;
    says?: string;
  }[] = [
    {state: 'no token', headers: {'Carrel-Purpose': 'agent'}, status: 407, code: 'token_missing'},
    {
      state: 'a token of another audience',
      headers: {...GOOD, 'Proxy-Authorization': 'Bearer other'},
      status: 407,
      code: 'token_refused',
    },
    {state: 'no purpose', headers: {'Proxy-Authorization': 'Bearer good'}, status: 400, code: 'purpose_invalid'},
    {state: 'an unknown purpose', headers: {...GOOD, 'Carrel-Purpose': 'root'}, status: 400, code: 'purpose_invalid'},
    {state: 'an address in disguise', target: '2130706433:443', status: 400, code: 'target_invalid'},
    {
      state: 'a host that is not listed',
      target: 'evil.example:443',
      status: 403,
      code: 'host_not_allowed',
      says: 'evil.example:443 is not allowed',
    },
    {
      state: 'the model for the agent',
      target: 'models.example:443',
      status: 403,
      code: 'host_not_allowed',
      says: 'echo.example',
    },
    {state: 'an address that is not listed', target: '127.0.0.1:443', status: 403, code: 'host_not_allowed'},
    {state: 'nobody listens', target: 'gone.example:1', status: 502, code: 'connect_failed'},
  ];
  for (const row of rows) {
    it(`for ${row.state} is ${row.status} ${row.code}`, async () => {
      bench = await startEgressBench();
      const reply = await bench.tunnel(row.target ?? `echo.example:${bench.echoPort}`, row.headers);
      expect(reply.status).toBe(row.status);
      expect(JSON.parse(reply.body)).toMatchObject({code: row.code, message: expect.stringContaining(row.says ?? '')});
    });
  }

  it('comes after resolution, when no address of an allowed name may be reached', async () => {
    bench = await startEgressBench();
    const {status, body} = await bench.tunnel(`inside.example:${bench.echoPort}`);
    expect([status, JSON.parse(body).code]).toEqual([403, 'address_not_allowed']);
    expect(body).toContain('an address of this cluster');
  });

  it('comes before resolution, when the name is not allowed: names could carry data out', async () => {
    bench = await startEgressBench();
    await bench.tunnel('secret-data.evil.example:443');
    await bench.tunnel('models.example:443');
    expect(bench.resolved).toEqual([]);
  });

  it('is 503, never 407, when no verdict can be had', async () => {
    bench = await startEgressBench();
    bench.verdict = 'none';
    expect(await bench.tunnel(`echo.example:${bench.echoPort}`)).toMatchObject({
      status: 503,
      body: expect.stringContaining('no_verdict'),
    });
  });

  it('is 503 while the ranges of the cluster are not known', async () => {
    const cluster = (): ClusterRanges => ({known: false, why: 'nodes are not listed yet'});
    bench = await startEgressBench({cluster});
    expect(await bench.tunnel(`echo.example:${bench.echoPort}`)).toMatchObject({
      status: 503,
      body: expect.stringContaining('nodes are not listed'),
    });
  });

  it('meets a revision whose content does not fit its name', async () => {
    bench = await startEgressBench();
    const data = revisionFor(bench.echoPort);
    const forged = {...data, spec: {...data.spec, network: {egress: [{host: 'evil.example'}]}}};
    bench.api.put(ControllerRevisions, {...buildRevision(data, 'team-a'), data: forged});
    await until(() => JSON.stringify(bench.caches.of(ControllerRevisions).list()).includes('evil.example'));
    expect(await bench.tunnel('evil.example:443')).toMatchObject({
      status: 403,
      body: expect.stringContaining('HashMismatch'),
    });
  });

  it('meets the connection after the last that a pod may have, until one is closed', async () => {
    bench = await startEgressBench();
    const target = `echo.example:${bench.echoPort}`;
    const [first] = await Promise.all([bench.tunnel(target), bench.tunnel(target), bench.tunnel(target)]);
    expect(await bench.tunnel(target)).toMatchObject({status: 503, body: expect.stringContaining('too_many')});
    first.socket.destroy();
    await until(() => bench.relay.tunnels.size() < 3);
    expect((await bench.tunnel(target)).status).toBe(200);
  });

  it('reads the session live while its watch is broken, so that a replaced pod does not get out', async () => {
    bench = await startEgressBench();
    bench.api.fault = ({query}) => (query.has('watch') ? 'hang' : undefined);
    bench.api.endWatches('break');
    await until(() => !bench.caches.of(Sessions).fresh());
    expect((await bench.tunnel(`echo.example:${bench.echoPort}`)).status).toBe(200);
    bench.api.put(Sessions, session({pod: {name: POD_NAME, uid: 'another'}}));
    expect(await bench.tunnel(`echo.example:${bench.echoPort}`)).toMatchObject({
      status: 403,
      body: expect.stringContaining('not_bound'),
    });
  });

  it('answers anything but CONNECT with 405', async () => {
    bench = await startEgressBench();
    const status = await new Promise((resolve) => {
      httpRequest({host: '127.0.0.1', port: bench.port, path: 'http://echo.example/'}, (r) =>
        resolve(r.resume().statusCode),
      ).end();
    });
    expect(status).toBe(405);
  });
});
