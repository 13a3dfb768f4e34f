/** How long scripts tell what they do: one line when a step starts, one with its seconds when it ends, and a sign of life between. */

/** Says how far a step is; the text appears with the next sign of life. */
export type Note = (text: string) => void;

const scriptStart = Date.now();
const SIGN_OF_LIFE_MS = 15_000;

function secondsSince(start: number): number {
  return Math.round((Date.now() - start) / 1000);
}

/** Prints one line, after the seconds since the script started. */
export function say(text: string): void {
  process.stderr.write(`[${String(secondsSince(scriptStart)).padStart(4)} s] ${text}\n`);
}

/** Runs one step of a script and shows what it does, how far it is and how long it took. */
export async function step<T>(title: string, work: (note: Note) => Promise<T>): Promise<T> {
  const start = Date.now();
  let progress = '';
  say(`${title} ...`);
  const timer = setInterval(() => {
    say(`${title}: ${secondsSince(start)} s${progress === '' ? '' : `, ${progress}`}`);
  }, SIGN_OF_LIFE_MS);
  try {
    const result = await work((text) => {
      progress = text;
    });
    say(`${title}: done (${secondsSince(start)} s${progress === '' ? '' : `, ${progress}`})`);
    return result;
  } catch (error) {
    say(`${title}: FAILED after ${secondsSince(start)} s`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
