import {open, stat} from 'node:fs/promises';
import {z} from 'zod';

/** What is read of one line of the API server's audit log. */
const Line = z.object({
  verb: z.string(),
  user: z.object({username: z.string()}),
  objectRef: z.object({resource: z.string(), namespace: z.string().optional(), name: z.string().optional()}).optional(),
});

/** What the API server has been asked since a moment. */
export class AuditFrom {
  readonly #file: string;
  readonly #offset: number;

  private constructor(file: string, offset: number) {
    this.#file = file;
    this.#offset = offset;
  }

  /** From now on. */
  static async now(file: string): Promise<AuditFrom> {
    return new AuditFrom(file, (await stat(file)).size);
  }

  /** `verb resource` of every request of this user about this namespace, in order. */
  async requests(username: string, namespace: string): Promise<string[]> {
    const handle = await open(this.#file);
    const {size} = await handle.stat();
    const bytes = Buffer.alloc(Math.max(0, size - this.#offset));
    await handle.read(bytes, 0, bytes.length, this.#offset);
    await handle.close();
    return bytes
      .toString()
      .split('\n')
      .flatMap((text) => {
        if (!text.includes(`"${namespace}"`)) return [];
        const line = Line.safeParse(parse(text));
        if (!line.success || line.data.user.username !== username) return [];
        const {verb, objectRef} = line.data;
        return objectRef?.namespace === namespace ? [`${verb} ${objectRef.resource}`] : [];
      });
  }
}

/** The last line may be cut while it is written. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
