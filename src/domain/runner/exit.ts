/** How a process of the agent ended, as the shim reports it: a report from the agent's zone, never proof. */
export type Exit = {code?: number; signal?: string; outOfMemory: boolean};

/** Cause of an exit: reason of a condition, error code of a turn, and words. */
export function describeExit(exit: Exit): {
  reason: 'OutOfMemory' | 'AgentKilled' | 'AgentExited';
  code: 'out_of_memory' | 'agent_killed' | 'agent_exited';
  message: string;
} {
  if (exit.outOfMemory) {
    return {
      reason: 'OutOfMemory',
      code: 'out_of_memory',
      message: 'a process of the agent was killed for lack of memory',
    };
  }
  if (exit.signal !== undefined) {
    return {reason: 'AgentKilled', code: 'agent_killed', message: `the agent was ended by ${exit.signal}`};
  }
  return {
    reason: 'AgentExited',
    code: 'agent_exited',
    message: exit.code === undefined ? 'the agent ended' : `the agent exited with code ${exit.code}`,
  };
}
