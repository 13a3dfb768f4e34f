import type {Exit} from '../domain/runner/exit.ts';
import type {Finding} from './loopback/ports.ts';

/** The agent cannot be used; `reason` is a documented one. */
export class AgentNotStarted extends Error {
  override name = 'AgentNotStarted';
  readonly reason: string;
  readonly finding: Finding | undefined;
  readonly exit: Exit | undefined;

  constructor(reason: string, message: string, more: {exit?: Exit | undefined; finding?: Finding} = {}) {
    super(message);
    this.reason = reason;
    this.exit = more.exit;
    this.finding = more.finding;
  }
}

/** Milliseconds from the end of the streams to the report of the exit, which says more than they do. */
export const EXIT_WAIT = 3_000;
