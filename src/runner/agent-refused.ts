/** The agent answered a request with an error. */
export class AgentRefused extends Error {
  override readonly name = 'AgentRefused';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error that the agent answered with; nothing for any other error. */
export function agentError(error: unknown): AgentRefused | undefined {
  return error instanceof AgentRefused ? error : undefined;
}
