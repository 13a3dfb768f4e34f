const REPLACEMENT = Buffer.from('[redacted]');

/** The forms in which a secret comes back in text: as it is, inside a JSON string, inside a URL, in base64. */
function formsOf(secret: string): Buffer[] {
  const forms = new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]);
  return [...forms].map((form) => Buffer.from(form)).sort((a, b) => b.length - a.length);
}

/**
 * Takes a secret out of bytes that pass, also where it is cut by a chunk border. Only as much is held back as could be
 * the beginning of the secret, so a stream is not delayed. It is for what echoes a key by mistake: a provider that wants
 * to give the key away has it already and can encode it in any way, so nothing here is a wall against that.
 */
export class Redactor {
  private readonly forms: readonly Buffer[];
  private held: Buffer = Buffer.alloc(0);

  /** An empty secret redacts nothing. */
  constructor(secret: string) {
    this.forms = secret === '' ? [] : formsOf(secret);
  }

  /** Takes the next bytes and returns those that are safe to send on. */
  push(chunk: Uint8Array): Buffer {
    const bytes = Buffer.concat([this.held, chunk]);
    const out: Buffer[] = [];
    let from = 0;
    for (let hit = this.next(bytes, from); hit; hit = this.next(bytes, from)) {
      out.push(bytes.subarray(from, hit.at), REPLACEMENT);
      from = hit.at + hit.length;
    }
    const rest = bytes.subarray(from);
    const keep = this.possibleStart(rest);
    this.held = rest.subarray(rest.length - keep);
    out.push(rest.subarray(0, rest.length - keep));
    return Buffer.concat(out);
  }

  /** Returns what was held back, at the end of the bytes. */
  end(): Buffer {
    const rest = this.held;
    this.held = Buffer.alloc(0);
    return rest;
  }

  private next(bytes: Buffer, from: number): {at: number; length: number} | undefined {
    let best: {at: number; length: number} | undefined;
    for (const form of this.forms) {
      const at = bytes.indexOf(form, from);
      if (at >= 0 && (!best || at < best.at)) best = {at, length: form.length};
    }
    return best;
  }

  /** Length of the longest end of `bytes` with which one of the forms begins. */
  private possibleStart(bytes: Buffer): number {
    let longest = 0;
    for (const form of this.forms) {
      for (let length = Math.min(form.length - 1, bytes.length); length > longest; length -= 1) {
        if (bytes.subarray(bytes.length - length).equals(form.subarray(0, length))) longest = length;
      }
    }
    return longest;
  }
}

/** Takes a secret out of a text that is whole. */
export function redactText(secret: string, text: string): string {
  const redactor = new Redactor(secret);
  return Buffer.concat([redactor.push(Buffer.from(text)), redactor.end()]).toString();
}
