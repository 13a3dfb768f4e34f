// `npm run verify`: everything that can be judged without a cluster. Every check runs, so that one run shows every failure.
import {join} from 'node:path';
import {CommandFailed, run} from './cluster/command.ts';
import {outdated} from './generate.ts';
import {step} from './progress.ts';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules/.bin');

/** A check that throws with what is wrong and what to do. */
interface Check {
  readonly title: string;
  readonly check: () => Promise<unknown>;
}

const tool = (name: string, ...args: string[]) =>
  run(join(BIN, name), args, {cwd: ROOT, env: {NO_COLOR: '1', FORCE_COLOR: '0'}});

const CHECKS: readonly Check[] = [
  {title: 'generated files', check: generatedFilesAreFresh},
  {title: 'format and lint', check: () => tool('biome', 'check', '--error-on-warnings', '.')},
  {title: 'types', check: () => tool('tsc', '--noEmit', '-p', '.')},
  {title: 'dead code', check: () => tool('knip', '--no-progress')},
  {
    title: 'architecture and pages',
    check: () =>
      tool('vitest', 'run', '--project', 'unit', ...['architecture', 'schema', 'docs'].map((t) => `test/${t}.test.ts`)),
  },
];

async function generatedFilesAreFresh(): Promise<void> {
  const paths = await outdated();
  if (paths.length > 0) throw new Error(`not up to date, run \`npm run gen\`:\n${paths.join('\n')}`);
}

/** Runs every check and returns the titles of those that failed, after printing what each said. */
async function verify(): Promise<string[]> {
  const failed: string[] = [];
  for (const {title, check} of CHECKS) {
    try {
      await step(title, check);
    } catch (error) {
      failed.push(title);
      process.stderr.write(`${said(error)}\n`);
    }
  }
  return failed;
}

function said(error: unknown): string {
  if (error instanceof CommandFailed) return `${error.stdout}${error.stderr}`.trim();
  return error instanceof Error ? error.message : String(error);
}

const failed = await verify();
process.stdout.write(failed.length === 0 ? 'verify: ok\n' : `verify: failed (${failed.join(', ')})\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
