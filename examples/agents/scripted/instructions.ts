import * as platform from './platform.ts';
import type {Verb} from './script.ts';
import * as trouble from './trouble.ts';
import type {Turn} from './turn.ts';
import * as workspace from './workspace.ts';

/** Does one instruction; throwing fails the turn. */
export type Handler = (argument: string, turn: Turn) => Promise<void>;

const say: Handler = (text, turn) => turn.say(`${text}\n`);

const remember: Handler = async (argument, turn) => {
  const [key = '', ...words] = argument.split(' ');
  turn.ports.conversation.memory[key] = words.join(' ');
  await turn.ports.save();
  await turn.say(`I will remember ${key}\n`);
};

const recall: Handler = async (key, turn) => {
  const value = turn.ports.conversation.memory[key];
  await turn.say(value === undefined ? `I remember nothing about ${key}\n` : `${key} is ${value}\n`);
};

const refuse: Handler = async (_argument, turn) => {
  await turn.say('I must refuse\n');
  turn.stopReason = 'refusal';
};

const noword: Handler = async (_argument, turn) => {
  turn.stopReason = 'end_turn';
};

/** What each instruction does. */
export const HANDLERS: Record<Verb, Handler> = {
  say,
  remember,
  recall,
  read: workspace.read,
  write: workspace.write,
  count: workspace.count,
  model: platform.model,
  quietmodel: platform.quietmodel,
  tools: platform.tools,
  tool: platform.tool,
  ask: platform.ask,
  permission: platform.permission,
  elicit: platform.elicit,
  stall: trouble.stall,
  deaf: trouble.deaf,
  flood: trouble.flood,
  fork: trouble.fork,
  crash: trouble.crash,
  kill: trouble.kill,
  oom: trouble.oom,
  env: trouble.env,
  fetch: trouble.fetchPage,
  refuse,
  noword,
};
