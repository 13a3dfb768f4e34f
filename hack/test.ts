import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {z} from 'zod';
import {IMAGE_PACKAGES, installPackages} from './cluster/packages.ts';
import {readSettings} from './cluster/settings.ts';
import {prepare, TEST_VALUES} from './environment.ts';
import {ROOT} from './image/build.ts';

/** `npm test`: everything; `npm test -- --unit`: what needs no cluster. Further arguments narrow to files whose path contains one. */
const args = process.argv.slice(2);
const filters = args.filter((a) => a !== '--unit');
const total = {passed: 0, failed: 0};

/** The part of a vitest report that is counted. */
const Report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(z.object({status: z.string(), assertionResults: z.array(z.object({status: z.string()}))})),
});

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
  total.failed += 1;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}
if (total.passed === 0 && total.failed === 0) total.failed = 1;
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exit(total.failed === 0 ? 0 : 1);

/** Runs one vitest project and adds its figures; a file that cannot be loaded counts as a failure. */
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
  const report = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
  rmSync(folder, {recursive: true, force: true});
  // A file that failed without a failed test of its own could not be loaded or set up.
  const broken = report.testResults.filter(
    (f) => f.status === 'failed' && !f.assertionResults.some((t) => t.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + broken;
  total.passed += report.numPassedTests;
  total.failed += result.status !== 0 && failed === 0 ? 1 : failed;
}
