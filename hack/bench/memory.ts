import {readdir, readFile} from 'node:fs/promises';
import {basename} from 'node:path';

/** Peak resident memory in MB of each process of Carrel on this machine (the largest where there are several). */
export async function peakMemory(): Promise<Record<string, number>> {
  const peaks: Record<string, number> = {};
  for (const pid of (await readdir('/proc')).filter((p) => /^[0-9]+$/.test(p))) {
    const [command, status] = await Promise.all([read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/status`)]);
    const words = command.split('\0');
    const entry = words[0] === '/carrel/bin/node' ? words.find((word) => word.endsWith('.js')) : undefined;
    const kilobytes = Number(/^VmHWM:\s+([0-9]+) kB/m.exec(status)?.[1] ?? 0);
    if (entry === undefined || kilobytes === 0) continue;
    const name = basename(entry, '.js');
    peaks[name] = Math.max(peaks[name] ?? 0, Math.round(kilobytes / 1024));
  }
  return peaks;
}

/** A process may end while it is looked at. */
function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
