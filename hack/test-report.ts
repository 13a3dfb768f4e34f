import {isAbsolute, relative} from 'node:path';
import {z} from 'zod';

/** Lines of a failure that are shown at the end of the run; the whole text stands where the test ran. */
const SHOWN_LINES = 12;

/** The part of a vitest JSON report that is counted and told. */
export const VitestReport = z.object({
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** What one run of a vitest project came to. */
export interface Outcome {
  readonly passed: number;
  /** A text per failure: file, name of the test, and the first lines of what went wrong. */
  readonly failures: readonly string[];
  /** A text per test that failed at first and passed when it was tried again. */
  readonly retried: readonly string[];
}

/**
 * Counts a vitest report and names what failed in it; a file that could not be loaded or set up counts as one failure.
 * `exitCode` is that of vitest: a run that failed without a failure in its report counts as one, too.
 */
export function outcomeOf(report: z.infer<typeof VitestReport>, exitCode: number | null, root: string): Outcome {
  const failures: string[] = [];
  const retried: string[] = [];
  for (const file of report.testResults) {
    const path = isAbsolute(file.name) ? relative(root, file.name) : file.name;
    const failed = file.assertionResults.filter((t) => t.status === 'failed');
    for (const test of failed) failures.push(told(path, test.fullName, test.failureMessages ?? []));
    if (file.status === 'failed' && failed.length === 0) {
      failures.push(told(path, '(could not be loaded or set up)', [file.message ?? '']));
    }
    for (const test of file.assertionResults) {
      const first = test.failureMessages ?? [];
      if (test.status === 'passed' && first.length > 0) retried.push(told(path, test.fullName, first));
    }
  }
  if (exitCode !== 0 && failures.length === 0) {
    failures.push(`vitest ended with ${exitCode ?? 'a signal'}, and its report names no failure: see its output above`);
  }
  return {passed: report.numPassedTests, failures, retried};
}

function told(file: string, name: string, messages: readonly string[]): string {
  // Frames of the test runner tell nothing.
  const lines = messages
    .join('\n')
    .trim()
    .split('\n')
    .filter((line) => !line.includes('/node_modules/') && !line.trim().endsWith('(<anonymous>)'));
  const shown = lines.slice(0, SHOWN_LINES).map((line) => `    ${line}`);
  return [`${file} > ${name}`, ...shown].join('\n');
}
