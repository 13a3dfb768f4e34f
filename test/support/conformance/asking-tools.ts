import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {declared, words} from './content.ts';

/** A tool that may need something from the client before it can answer. */
export type AskingTool = (context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

/** State that comes back from a client is signed; `verify` belongs into the options of the server. */
export const STATE = createRequestStateCodec<{step: number}>({key: 'k'.repeat(32)});

const done = (text: string): CallToolResult => ({content: [words(text)]});
const asked = (message: string, field: string): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: {type: 'object', properties: {[field]: {type: 'string'}}, required: [field]},
  });
const confirmed = (): InputRequest =>
  inputRequired.elicit({
    message: 'Please confirm',
    requestedSchema: {type: 'object', properties: {ok: {type: 'boolean'}}, required: ['ok']},
  });
const sampled = (text: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({messages: [{role: 'user', content: {type: 'text', text}}], maxTokens});
const has = ({mcpReq}: ServerContext, key: string) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing';
const state = (context: ServerContext, step: number) => STATE.mint({step}, context);

/** What a client is asked for its name by, and what it said. */
export function nameOf({mcpReq}: ServerContext, key: string, field: string): string | undefined {
  const value = acceptedContent(mcpReq.inputResponses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** Ask the client for one text. */
export function askFor(key: string, message: string, field: string): InputRequiredResult {
  return inputRequired({inputRequests: {[key]: asked(message, field)}});
}

/** Tools of several rounds; the names are those that the scenarios call. */
export const ASKING_TOOLS: Readonly<Record<string, AskingTool>> = {
  async test_input_required_result_elicitation(context) {
    const name = nameOf(context, 'user_name', 'name');
    return name === undefined ? askFor('user_name', 'What is your name?', 'name') : done(`Hello, ${name}!`);
  },
  async test_input_required_result_sampling(context) {
    if (has(context, 'capital_question')) return done(JSON.stringify(context.mcpReq.inputResponses));
    return inputRequired({inputRequests: {capital_question: sampled('What is the capital of France?', 100)}});
  },
  async test_input_required_result_list_roots(context) {
    if (has(context, 'client_roots')) return done(JSON.stringify(context.mcpReq.inputResponses));
    return inputRequired({inputRequests: {client_roots: inputRequired.listRoots()}});
  },
  async test_input_required_result_request_state(context) {
    if (has(context, 'confirm') && context.mcpReq.requestState() !== undefined) return done('state-ok');
    const inputRequests = {confirm: confirmed()};
    return inputRequired({inputRequests, requestState: await state(context, 1)});
  },
  async test_input_required_result_tampered_state(context) {
    if (context.mcpReq.requestState() !== undefined) return done('state-ok');
    const inputRequests = {confirm: confirmed()};
    return inputRequired({inputRequests, requestState: await state(context, 1)});
  },
  async test_input_required_result_multiple_inputs(context) {
    if (['user_name', 'greeting', 'client_roots'].every((key) => has(context, key))) return done('all there');
    const inputRequests = {
      user_name: asked('What is your name?', 'name'),
      greeting: sampled('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return inputRequired({inputRequests, requestState: await state(context, 1)});
  },
  async test_input_required_result_multi_round(context) {
    const step = context.mcpReq.requestState<{step: number}>()?.step ?? 0;
    if (step === 2 && has(context, 'step2')) return done('both rounds are over');
    if (step >= 1 && has(context, 'step1')) {
      const inputRequests = {step2: asked('Step 2: What is your favorite color?', 'color')};
      return inputRequired({inputRequests, requestState: await state(context, 2)});
    }
    const inputRequests = {step1: asked('Step 1: What is your name?', 'name')};
    return inputRequired({inputRequests, requestState: await state(context, 1)});
  },
  async test_input_required_result_capabilities(context) {
    const can = declared(context);
    const inputRequests = {
      ...(can.sampling ? {greeting: sampled('Generate a greeting', 50)} : {}),
      ...(can.elicitation ? {user_name: asked('What is your name?', 'name')} : {}),
    };
    return Object.keys(inputRequests).length === 0 ? done('nothing to ask for') : inputRequired({inputRequests});
  },
};
