import {once} from 'node:events';
import {createServer} from 'node:http';

/** The loopback endpoint of a pod, as an agent sees it: two tools, and a model that refuses what has "fail" in it. */
export interface AgentPlatform {
  readonly url: string;
  /** Every request, with whichever key came. */
  readonly calls: {path: string | undefined; key: string | undefined; body: string}[];
  close(): void;
}

/** Start one. */
export async function startAgentPlatform(): Promise<AgentPlatform> {
  const calls: AgentPlatform['calls'] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const {authorization, 'x-api-key': key} = request.headers;
    calls.push({path: request.url, key: authorization ?? String(key), body});
    if (request.url === '/model/v1/messages') {
      if (body.includes('fail')) return void response.writeHead(429).end('{"error":{"message":"slow down"}}');
      response.writeHead(200, {'content-type': 'text/event-stream'});
      return void response.end('data: {"type":"x","delta":{"text":"I am "}}\n\ndata: {"delta":{"text":"a model"}}\n\n');
    }
    const {id, method, params} = JSON.parse(body);
    const result =
      method === 'tools/list'
        ? {tools: [{name: 'get_session'}, {name: 'ask_user'}]}
        : {content: [{type: 'text', text: `did ${params?.name} ${JSON.stringify(params?.arguments)}`}]};
    response.writeHead(200, {'content-type': 'application/json'});
    response.end(JSON.stringify({jsonrpc: '2.0', id, result}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    calls,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
