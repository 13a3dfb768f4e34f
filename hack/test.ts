import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {IMAGE_PACKAGES, installPackages} from './cluster/packages.ts';
import {readSettings} from './cluster/settings.ts';
import {prepare, TEST_VALUES} from './environment.ts';
import {ROOT} from './image/build.ts';
import {outcomeOf, VitestReport} from './test-report.ts';

/** `npm test`: everything; `npm test -- --unit`: what needs no cluster. Further arguments narrow to files whose path contains one. */
const args = process.argv.slice(2);
const filters = args.filter((a) => a !== '--unit');
let passed = 0;
const failures: string[] = [];
const retried: string[] = [];

try {
  if (args.includes('--unit')) {
    runProject('unit');
    runProject('process');
  } else {
    await installPackages(readSettings().existing ? IMAGE_PACKAGES : undefined); // tests without a cluster use some of them
    runProject('unit');
    runProject('process');
    const {images} = await prepare(TEST_VALUES);
    const release = {CARREL_TEST_IMAGES: JSON.stringify(images)};
    runProject('integration', release);
    runProject('alone', release);
  }
} catch (error) {
  failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
if (passed === 0 && failures.length === 0) {
  failures.push(filters.length === 0 ? 'no test ran' : `no test file has ${filters.join(' or ')} in its path`);
}
// At the very end, where whoever looks at a long log looks first.
for (const text of retried) process.stdout.write(`PASSED WHEN TRIED AGAIN ${text}\n\n`);
for (const text of failures) process.stdout.write(`FAILED ${text}\n\n`);
process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
process.exit(failures.length === 0 ? 0 : 1);

/** Runs one vitest project and adds what came of it. */
function runProject(project: 'unit' | 'process' | 'integration' | 'alone', env: Record<string, string> = {}): void {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project',
    project,
    '--passWithNoTests',
    ...reporters,
  ];
  const result = spawnSync(process.execPath, [...vitest, ...filters], {
    cwd: ROOT,
    stdio: 'inherit',
    env: {...process.env, ...env},
  });
  const report = VitestReport.parse(JSON.parse(readFileSync(file, 'utf8')));
  rmSync(folder, {recursive: true, force: true});
  const outcome = outcomeOf(report, result.status, ROOT);
  passed += outcome.passed;
  failures.push(...outcome.failures);
  retried.push(...outcome.retried);
}
