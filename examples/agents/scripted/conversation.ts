import {mkdir, readFile, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {z} from 'zod';

const Stored = z.object({
  id: z.string(),
  turns: z.number().int(),
  mode: z.string(),
  memory: z.record(z.string(), z.string()),
  history: z.array(z.object({role: z.enum(['user', 'agent']), text: z.string()})),
});

/** A conversation as it lies in the home folder. */
export type Conversation = z.infer<typeof Stored>;

/** Keeps conversations below the home folder, so that they outlive the process and the pod. */
export class ConversationStore {
  private readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, '.scripted-agent');
  }

  /** A new conversation, written down at once. */
  async create(id: string): Promise<Conversation> {
    const conversation: Conversation = {id, turns: 0, mode: 'default', memory: {}, history: []};
    await this.save(conversation);
    return conversation;
  }

  /** The conversation of that id; undefined where there is none. */
  async read(id: string): Promise<Conversation | undefined> {
    // The id comes from outside and becomes part of a path.
    if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) return undefined;
    try {
      return Stored.parse(JSON.parse(await readFile(this.path(id), 'utf8')));
    } catch {
      return undefined;
    }
  }

  /** Replaces the file in one step: a process that is killed leaves the one before. */
  async save(conversation: Conversation): Promise<void> {
    await mkdir(this.folder, {recursive: true});
    const temporary = `${this.path(conversation.id)}.new`;
    await writeFile(temporary, JSON.stringify(conversation));
    await rename(temporary, this.path(conversation.id));
  }

  private path(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}
