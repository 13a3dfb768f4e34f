/** Milliseconds until a name that somebody else's object has is tried again. */
export const TAKEN_RETRY_MS = 30_000;

/** Says that somebody else's object stands where one of ours has to be, and what to do about it. */
export function takenMessage(kind: string, name: string, what: string): string {
  return `${kind} ${name} has the name of ${what} and does not belong to this Session: look whose it is, then delete or rename it; it is tried again`;
}
