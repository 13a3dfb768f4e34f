/** What the stub does about a request; told by a line `stub ...` of the last user message. */
export type Reaction =
  | {kind: 'say'; text: string; pieces: number; pauseMs: number; cut: boolean}
  | {kind: 'tool'; name: string; input: unknown}
  | {kind: 'error'; status: number; message: string}
  | {kind: 'redirect'; to: string}
  | {kind: 'streamError'; message: string};

/** Tokens that the stub bills: words, so that a test can count them. */
export function tokensOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

const say = (text: string, more: {pieces?: number; pauseMs?: number; cut?: boolean} = {}): Reaction => ({
  kind: 'say',
  text,
  pieces: more.pieces ?? 4,
  pauseMs: more.pauseMs ?? 0,
  cut: more.cut ?? false,
});

/** Reads the script of a prompt. Without one the answer repeats the prompt. */
export function reactTo(prompt: string, headers: unknown): Reaction {
  const line = /^stub (.*)$/m.exec(prompt)?.[1];
  if (line === undefined) return say(`the model heard: ${prompt.trim()}`);
  const [verb = '', ...words] = line.trim().split(' ');
  const rest = words.join(' ');
  const numbers = words.map(Number);
  switch (verb) {
    case 'say':
      return say(rest);
    case 'error':
      return {
        kind: 'error',
        status: numbers[0] ?? 500,
        message: words.slice(1).join(' ') || 'the stub was asked to fail',
      };
    case 'slow':
      return say('a slow answer that comes in many small pieces', {
        pieces: numbers[0] ?? 10,
        pauseMs: numbers[1] ?? 100,
      });
    case 'headers':
      return say(JSON.stringify(headers), {pieces: 1});
    case 'cut':
      return say('this answer is cut in the middle', {cut: true});
    case 'tool':
      return {kind: 'tool', name: words[0] ?? 'none', input: JSON.parse(words.slice(1).join(' ') || '{}')};
    case 'redirect':
      return {kind: 'redirect', to: rest};
    case 'streamerror':
      return {kind: 'streamError', message: rest || 'overloaded'};
    default:
      return {kind: 'error', status: 400, message: `the stub knows no script ${JSON.stringify(verb)}`};
  }
}

/** Cuts a text into at most `count` pieces. */
export function piecesOf(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return Array.from({length: Math.ceil(text.length / size)}, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}
