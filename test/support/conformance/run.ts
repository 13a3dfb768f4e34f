import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {z} from 'zod';

/** Scenarios that ran, and what their failed checks said. */
export type Outcomes = ReadonlyMap<string, readonly string[]>;

const RUNNER = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const Checks = z.array(z.object({id: z.string(), status: z.string(), errorMessage: z.string().optional()}));

/** Run the scenarios that a revision requires; the result has one entry for each that ran. */
export async function runRequirements(url: string, revision: string): Promise<Outcomes> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-conformance-'));
  try {
    const args = ['server', '--url', url, '--requirements', revision, '-o', folder, '--timeout', '10000'];
    const child = spawn(process.execPath, [RUNNER, ...args], {stdio: 'ignore'});
    await once(child, 'exit');
    const outcomes = new Map<string, readonly string[]>();
    for (const name of await readdir(folder)) {
      const checks = Checks.parse(JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')));
      const failed = checks.filter((c) => c.status === 'FAILURE').map((c) => `${c.id}: ${c.errorMessage ?? ''}`);
      const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, '');
      outcomes.set(scenario, failed);
    }
    return outcomes;
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

/** The scenarios of these that failed, with their reasons. */
export function failures(outcomes: Outcomes, scenarios: Iterable<string>): Record<string, readonly string[]> {
  const all = [...scenarios].map((name) => [name, outcomes.get(name) ?? ['the scenario did not run']] as const);
  return Object.fromEntries(all.filter(([, failed]) => failed.length > 0));
}
