import {setTimeout as delay} from 'node:timers/promises';
import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {declared, embedded, picture, WAV, words} from './content.ts';

/** What one fixture tool does with its arguments. */
export type PlainTool = (context: ServerContext, args: Record<string, unknown>) => Promise<CallToolResult>;

const says = (...content: CallToolResult['content']): PlainTool => {
  return async () => ({content});
};

/** Tools that answer in one round; the names are those that the scenarios call. */
export const PLAIN_TOOLS: Readonly<Record<string, PlainTool>> = {
  test_simple_text: says(words('This is a simple text response for testing.')),
  test_image_content: says(picture),
  test_audio_content: says({type: 'audio', data: WAV, mimeType: 'audio/wav'}),
  test_embedded_resource: says(embedded('test://embedded-resource', 'This is an embedded resource content.')),
  test_multiple_content_types: says(
    words('Multiple content types test:'),
    picture,
    embedded('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json'),
  ),
  test_error_handling: async () => ({
    isError: true,
    content: [words('This tool intentionally returns an error for testing')],
  }),
  async test_tool_with_logging({mcpReq}) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', data);
      await delay(20);
    }
    return {content: [words('logged')]};
  },
  async test_tool_with_progress({mcpReq}) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({method: 'notifications/progress', params: {progressToken, progress, total: 100}});
      await delay(20);
    }
    return {content: [words('progressed')]};
  },
  async test_logging_tool({mcpReq}) {
    await mcpReq.log('info', 'only who asked for a level may see this');
    return {content: [words('logged')]};
  },
  test_streaming_elicitation: says(words('nothing but this on the stream')),
  async test_missing_capability(context) {
    if (!declared(context).sampling)
      throw new MissingRequiredClientCapabilityError({requiredCapabilities: {sampling: {}}});
    return {content: [words('sampling is there')]};
  },
  async test_sampling({mcpReq}, {prompt}) {
    const messages = [{role: 'user' as const, content: {type: 'text' as const, text: String(prompt)}}];
    const reply = await mcpReq.requestSampling({messages, maxTokens: 100});
    return {content: [words(`LLM response: ${JSON.stringify(reply.content)}`)]};
  },
  async test_elicitation({mcpReq}, {message}) {
    const properties = {username: {type: 'string' as const}, email: {type: 'string' as const}};
    const requestedSchema = {type: 'object' as const, properties, required: ['username', 'email']};
    const reply = await mcpReq.elicitInput({message: String(message), requestedSchema});
    return {content: [words(`User response: ${JSON.stringify(reply)}`)]};
  },
  test_elicitation_sep1034_defaults: fillIn,
  test_elicitation_sep1330_enums: fillIn,
};

async function fillIn({mcpReq}: ServerContext): Promise<CallToolResult> {
  const properties = {name: {type: 'string' as const, default: 'John Doe'}};
  const requestedSchema = {type: 'object' as const, properties};
  const reply = await mcpReq.elicitInput({message: 'Please fill this in', requestedSchema});
  return {content: [words(`Elicitation completed: ${JSON.stringify(reply)}`)]};
}
