/** Remembers whether the present agent process has read the tool list: ACP has no signal for it. */
export class ToolsSeen {
  private answered = false;
  private readonly callbacks = new Set<() => void>();

  listed(): void {
    this.answered = true;
    for (const callback of [...this.callbacks]) callback();
  }

  seen(): boolean {
    return this.answered;
  }

  /** A new process has to list the tools again. */
  forget(): void {
    this.answered = false;
  }

  subscribe(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }
}
