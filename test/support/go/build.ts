import {join} from 'node:path';
import {run} from '../../../hack/cluster/command.ts';
import {readSettings} from '../../../hack/cluster/settings.ts';

/** Builds a static Go program of this folder, as the cluster's components are built, and returns the path of the binary. */
export async function buildGo(name: 'attacker' | 'static-agent'): Promise<string> {
  const {cache} = readSettings();
  const binary = join(cache, 'test', name);
  await run('go', ['build', '-ldflags=-s -w', '-o', binary, '.'], {
    cwd: new URL(name, import.meta.url).pathname,
    env: {
      GOMODCACHE: join(cache, 'go', 'mod'),
      GOCACHE: join(cache, 'go', 'build'),
      CGO_ENABLED: '0',
      GOFLAGS: '-trimpath -buildvcs=false -modcacherw',
      GOTOOLCHAIN: 'local',
    },
  });
  return binary;
}
