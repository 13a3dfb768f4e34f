import {expect, it} from 'vitest';
import {outcomeOf, VitestReport} from './test-report.ts';

const passed = {fullName: 'adds', status: 'passed', failureMessages: []};

function report(testResults: unknown[]) {
  return VitestReport.parse({numPassedTests: 1, testResults});
}

it('a run in which all is well names nothing', () => {
  const all = report([{name: '/r/a.test.ts', status: 'passed', assertionResults: [passed]}]);
  expect(outcomeOf(all, 0, '/r')).toEqual({passed: 1, failures: [], retried: []});
});

it('a failed test is named with its file, and with the first lines of what went wrong', () => {
  const message = Array.from({length: 40}, (_, i) => `line ${i}`).join('\n');
  const failed = {fullName: 'group subtracts', status: 'failed', failureMessages: [message]};
  const {failures} = outcomeOf(
    report([{name: '/r/x/a.test.ts', status: 'failed', assertionResults: [passed, failed]}]),
    1,
    '/r',
  );
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(/^x\/a\.test\.ts > group subtracts\n {4}line 0\n/);
  expect(failures[0]?.split('\n')).toHaveLength(13);
});

it('frames of the test runner are left out', () => {
  const failed = {
    fullName: 'adds',
    status: 'failed',
    failureMessages: ['no\n  at /r/a.test.ts:1:2\n  at /r/node_modules/x.js:3:4\n  at new Promise (<anonymous>)'],
  };
  expect(
    outcomeOf(report([{name: '/r/a.test.ts', status: 'failed', assertionResults: [failed]}]), 1, '/r').failures,
  ).toEqual(['a.test.ts > adds\n    no\n      at /r/a.test.ts:1:2']);
});

it('a file that cannot be loaded counts as a failure, with the cause', () => {
  const broken = {name: '/r/b.test.ts', status: 'failed', message: 'no such module', assertionResults: []};
  expect(outcomeOf(report([broken]), 1, '/r').failures).toEqual([
    'b.test.ts > (could not be loaded or set up)\n    no such module',
  ]);
});

it('a run that failed without a failed test counts as a failure, also when a signal ended it', () => {
  const all = report([{name: '/r/a.test.ts', status: 'passed', assertionResults: [passed]}]);
  expect(outcomeOf(all, 1, '/r').failures).toEqual([expect.stringContaining('vitest ended with 1,')]);
  expect(outcomeOf(all, null, '/r').failures).toEqual([expect.stringContaining('vitest ended with a signal,')]);
});

it('a test that passed only when it was tried again is named, and is no failure', () => {
  const again = {fullName: 'pulls', status: 'passed', failureMessages: ['timed out']};
  const outcome = outcomeOf(report([{name: '/r/c.test.ts', status: 'passed', assertionResults: [again]}]), 0, '/r');
  expect(outcome).toEqual({passed: 1, failures: [], retried: ['c.test.ts > pulls\n    timed out']});
});
