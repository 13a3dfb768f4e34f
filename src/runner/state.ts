import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';

const Saved = z.object({
  /** How often the runner of this pod started. */
  epoch: z.number().int().min(0).default(0),
  /** Known to the one shim that proved to have it. */
  nonce: z.string().optional(),
  agentSessionId: z.string().optional(),
  /** The conversation that has been given the Agent's instructions. */
  instructed: z.string().optional(),
  /** Turns that were taken, the latest last: each is taken at most once, also after a restart. */
  taken: z.array(z.string()).default([]),
  inFlight: z.object({uid: z.string(), name: z.string()}).optional(),
  questions: z.array(z.object({requestId: z.string(), turnUid: z.string()})).default([]),
});
/** What outlives a restart of the runner in its pod. */
export type Saved = z.infer<typeof Saved>;

const KEEP_TAKEN = 200;

/** The runner's state file in its own tmpfs, replaced as a whole by rename. */
export class StateFile {
  private readonly file: string;
  private saved: Saved;

  constructor(folder: string) {
    this.file = path.join(folder, 'state.json');
    this.saved = Saved.parse(readState(this.file));
  }

  get(): Readonly<Saved> {
    return this.saved;
  }

  update(change: (saved: Saved) => Saved): void {
    const next = change(this.saved);
    this.saved = {...next, taken: next.taken.slice(-KEEP_TAKEN)};
    writeFileSync(`${this.file}.new`, JSON.stringify(this.saved), {mode: 0o600});
    renameSync(`${this.file}.new`, this.file);
  }
}

function readState(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // Nothing yet: the first start in this pod. Anything else would make a turn run twice.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
