import type {Handler} from './instructions.ts';
import type {Turn} from './turn.ts';

function mcpOf(turn: Turn) {
  if (!turn.ports.mcp)
    throw new Error('there is no platform endpoint: session/new named none, and CARREL_MCP_URL is not set');
  return turn.ports.mcp;
}

async function callTool(turn: Turn, name: string, args: unknown): Promise<void> {
  const mcp = mcpOf(turn);
  const text = await turn.call(name, args, () => mcp.callTool(name, args, turn.ports.signal));
  await turn.say(`${name}: ${text}\n`);
}

/** `tools`: the names of the platform's tools. */
export const tools: Handler = async (_argument, turn) => {
  const names = await mcpOf(turn).listTools(turn.ports.signal);
  await turn.say(`tools: ${names.join(', ')}\n`);
};

/** `tool NAME JSON`: calls a tool of the platform and says its result. */
export const tool: Handler = async (argument, turn) => {
  const [name = '', ...words] = argument.split(' ');
  await callTool(turn, name, JSON.parse(words.join(' ') || '{}'));
};

/** `ask TEXT`: asks the owner by the tool `ask_user`; `ask TEXT | A | B` offers choices. */
export const ask: Handler = async (argument, turn) => {
  const [question = '', ...choices] = argument.split('|').map((part) => part.trim());
  const options = choices.map((label) => ({id: label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), label}));
  await callTool(turn, 'ask_user', {question, ...(options.length > 0 ? {options} : {})});
};

/** `permission TITLE`: asks for leave as ACP does, and says what was chosen. */
export const permission: Handler = async (title, turn) => {
  const chosen = await turn.permission(title === '' ? 'do something' : title, [
    {optionId: 'allow', name: 'Allow once', kind: 'allow_once'},
    {optionId: 'reject', name: 'Reject', kind: 'reject_once'},
  ]);
  await turn.say(`permission: ${chosen}\n`);
};

/** `elicit TEXT`: asks by an ACP form with one field, `answer`. */
export const elicit: Handler = async (message, turn) => {
  const {client, sessionId, signal} = turn.ports;
  const requestedSchema = {
    type: 'object' as const,
    properties: {answer: {type: 'string' as const, title: 'Answer'}},
    required: ['answer'],
  };
  const reply = await client.request(
    'elicitation/create',
    {mode: 'form', sessionId, message: message === '' ? 'What shall I write?' : message, requestedSchema},
    {cancellationSignal: signal},
  );
  await turn.say(`elicitation: ${JSON.stringify(reply)}\n`);
};

/** `model TEXT`: asks the model and says its answer; a failure fails the turn. */
export const model: Handler = async (text, turn) => {
  if (!turn.ports.model) throw new Error('there is no model: CARREL_MODEL_URL is not set');
  for await (const piece of turn.ports.model.ask([{role: 'user', text}], turn.ports.signal)) await turn.say(piece);
  await turn.say('\n');
};

/** `quietmodel TEXT`: the same, but hides a failure, as some agents do. */
export const quietmodel: Handler = async (text, turn) => {
  try {
    await model(text, turn);
  } catch {
    turn.stopReason = 'end_turn';
  }
};
