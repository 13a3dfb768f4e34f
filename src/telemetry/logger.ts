import {type Logger, pino} from 'pino';

/** Levels that may be asked for. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

// A second line of defence: no code of ours hands these to a logger.
const SECRET_FIELDS = ['token', 'authorization', 'key', 'secret', 'password', 'headers'];

/** The logger of a process: JSON lines on stdout, `process` in each line, known secret fields never printed. */
export function createLogger(process: string, level: LogLevel = 'info'): Logger {
  return pino({
    level,
    base: {process},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {level: (label) => ({level: label})},
    redact: {paths: [...SECRET_FIELDS, ...SECRET_FIELDS.map((f) => `*.${f}`)], censor: '[redacted]'},
  });
}
