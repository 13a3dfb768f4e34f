import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {openCluster} from '../../../hack/cluster/cluster.ts';
import {run} from '../../../hack/cluster/command.ts';
import {ROOT} from '../../../hack/image/build.ts';

afterAll(async () => {
  await (await openCluster()).kubectl(['delete', 'namespace', 'carrel-demo', '--wait=false']);
});

it('npm run demo tells its whole story on the cluster that is there, and says at its end that all went well', async () => {
  const said = await run(process.execPath, [join(ROOT, 'hack/demo.ts')], {cwd: ROOT});
  const lines = said.trimEnd().split('\n');
  for (const words of [
    'The agent answers the first prompt from the files of its workspace:',
    'A second turn needs the memory of the first:',
    'The agent asks:',
    'With the answer it goes on:',
    'Look around:',
  ])
    expect(lines).toContain(words);
  expect(lines.at(-1)).toMatch(/^demo: ok \(\d+ s\)$/);
});
