import {spawn} from 'node:child_process';

/** What a command may be given beside its arguments. */
type CommandOptions = {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  /** Called with every line of standard error, for progress. */
  onErrorLine?: (line: string) => void;
};

/** A command that ended with a code other than 0, with the end of what it printed. */
export class CommandFailed extends Error {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;

  constructor(command: string, outcome: {stdout: string; stderr: string; code: number | null}) {
    super(`${command} ended with ${outcome.code}: ${(outcome.stderr || outcome.stdout).trim().slice(-2000)}`);
    this.stdout = outcome.stdout;
    this.stderr = outcome.stderr;
    this.code = outcome.code;
  }
}

/** Runs a command to its end and returns what it printed; any code but 0 is an error. */
export async function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const outcome = await runAny(command, args, options);
  if (outcome.code !== 0) throw new CommandFailed(`${command} ${args.slice(0, 4).join(' ')}`, outcome);
  return outcome.stdout;
}

/** Runs a command to its end and returns its output and code, whatever the code is. */
export function runAny(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{stdout: string; stderr: string; code: number | null}> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {...process.env, ...options.env},
      ...(options.cwd === undefined ? {} : {cwd: options.cwd}),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (options.onErrorLine) for (const line of text.split('\n')) if (line !== '') options.onErrorLine(line);
    });
    child.on('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.on('close', (code) => resolve({stdout, stderr, code}));
    child.stdin.on('error', () => {}); // a command that ends before it has read everything tells its reason by its code
    child.stdin.end(options.stdin ?? '');
  });
}
