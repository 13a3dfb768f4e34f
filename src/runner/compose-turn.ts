import {setTimeout as delay} from 'node:timers/promises';
import type {Launch} from '../api/launch.ts';
import {composePrompt, transcriptText} from '../domain/runner/prompt.ts';
import {backoff} from '../domain/runner/verdict.ts';
import type {GatewayClient} from './gateway-client.ts';
import type {Log} from './loopback/ports.ts';
import type {RunningAgent} from './running-agent.ts';
import type {StateFile} from './state.ts';
import type {OrderedTurn} from './turn-run.ts';

/** Characters of the transcript that an agent without memory is told. */
const REBUILT = 32_768;
const TRIES = 6;

/** The prompt of a turn: instructions and earlier words only for a conversation that was not given them yet. */
export async function composeTurn(
  turn: OrderedTurn,
  agent: RunningAgent,
  from: {
    launch: Launch;
    state: StateFile;
    gateway: Pick<GatewayClient, 'context'>;
    log: Log;
    goal: string | undefined;
  },
): Promise<string[]> {
  const instructed = from.state.get().instructed === agent.sessionId;
  const fresh = agent.conversation === 'New' || agent.conversation === 'Rebuilt' || turn.sequence === 1;
  let earlier: string | undefined;
  if (agent.conversation === 'Rebuilt' && !instructed) {
    earlier = await transcript(from);
  }
  const instructions = fresh && !instructed ? from.launch.instructions : undefined;
  return composePrompt({turn, goal: from.goal, instructions, earlier});
}

/** A gateway that has no answer now may have one soon; without any the agent goes on without memory. */
async function transcript({
  gateway,
  log,
}: {
  gateway: Pick<GatewayClient, 'context'>;
  log: Log;
}): Promise<string | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      return transcriptText((await gateway.context()).records, REBUILT);
    } catch (error) {
      log.warn(
        {attempt, message: error instanceof Error ? error.message : String(error)},
        'no transcript to rebuild from',
      );
      await delay(backoff(attempt, Math.random()));
    }
  }
  return undefined;
}
