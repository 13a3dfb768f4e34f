import type {Log} from '../../src/kube/ports.ts';

/** One line that was logged. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A log that keeps its lines. */
export function keptLog(): Log & {readonly lines: LogLine[]} {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({level, fields, message});
  return {lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error')};
}
