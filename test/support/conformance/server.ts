// A server with everything that the scenarios of @modelcontextprotocol/conformance call, over the SDK's low-level Server.
import {
  type GetPromptResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {ASKING_TOOLS, askFor, nameOf, STATE} from './asking-tools.ts';
import {embedded, PNG, picture, words} from './content.ts';
import {PLAIN_TOOLS} from './plain-tools.ts';

const CACHE = {ttlMs: 60_000, cacheScope: 'private'} as const;
const TOOLS = {...PLAIN_TOOLS, ...ASKING_TOOLS};

/** The server of one request. */
export function buildFixtureServer(): Server {
  const server = new Server(
    {name: 'fixtures', version: '0.0.0'},
    {
      capabilities: {tools: {}, resources: {subscribe: true}, prompts: {}, completions: {}, logging: {}},
      requestState: {verify: STATE.verify},
      cacheHints: {
        'tools/list': CACHE,
        'prompts/list': CACHE,
        'resources/list': CACHE,
        'resources/templates/list': CACHE,
        'resources/read': CACHE,
        'server/discover': CACHE,
      },
    },
  );
  addTools(server);
  addResources(server);
  addPrompts(server);
  server.setRequestHandler('completion/complete', async () => ({completion: {values: ['test'], total: 1}}));
  return server;
}

function addTools(server: Server): void {
  const tools = Object.keys(TOOLS).map((name) => ({
    name,
    description: `Does what the scenario of ${name} expects.`,
    inputSchema: {type: 'object' as const},
  }));
  server.setRequestHandler('tools/list', async () => ({tools}));
  server.setRequestHandler('tools/call', async ({params}, context) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    return await tool(context, params.arguments ?? {});
  });
}

function addResources(server: Server): void {
  server.setRequestHandler('resources/list', async () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
      uri: `test://${name}`,
      name,
      description: `The ${name} of the scenarios.`,
    })),
  }));
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'Data of one id.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', async ({params}) => read(params.uri));
  server.setRequestHandler('resources/subscribe', async () => ({}));
  server.setRequestHandler('resources/unsubscribe', async () => ({}));
}

function read(uri: string): ReadResourceResult {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({id, templateTest: true, data: `Data for ID: ${id}`});
    return {contents: [{uri, mimeType: 'application/json', text}]};
  }
  if (uri === 'test://static-binary') return {contents: [{uri, mimeType: 'image/png', blob: PNG}]};
  if (uri !== 'test://static-text' && uri !== 'test://watched-resource') throw new ResourceNotFoundError(uri);
  return {contents: [{uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.'}]};
}

type Prompt = (args: Record<string, string>, context: ServerContext) => GetPromptResult | InputRequiredResult;

const user = (...content: ReturnType<typeof words>[]): GetPromptResult => ({
  messages: content.map((block) => ({role: 'user', content: block})),
});

const PROMPTS: Readonly<Record<string, {takes: readonly string[]; get: Prompt}>> = {
  test_simple_prompt: {takes: [], get: () => user(words('This is a simple prompt for testing.'))},
  test_prompt_with_arguments: {
    takes: ['arg1', 'arg2'],
    get: ({arg1, arg2}) => user(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    takes: ['resourceUri'],
    get: ({resourceUri = ''}) =>
      user(
        embedded(resourceUri, 'Embedded resource content for testing.'),
        words('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: {takes: [], get: () => user(picture, words('Please analyze the image above.'))},
  test_input_required_result_prompt: {
    takes: [],
    get(_args, context) {
      const text = nameOf(context, 'user_context', 'context');
      const ask = () => askFor('user_context', 'What context should the prompt use?', 'context');
      return text === undefined ? ask() : user(words(text));
    },
  },
};

function addPrompts(server: Server): void {
  const prompts = Object.entries(PROMPTS).map(([name, {takes}]) => ({
    name,
    description: `Says what the scenario of ${name} expects.`,
    arguments: takes.map((argument) => ({name: argument, required: true})),
  }));
  server.setRequestHandler('prompts/list', async () => ({prompts}));
  server.setRequestHandler('prompts/get', async ({params}, context) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no prompt ${params.name}`);
    return prompt.get(params.arguments ?? {}, context);
  });
}
