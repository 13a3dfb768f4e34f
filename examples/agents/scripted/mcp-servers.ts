import type {McpServer} from '@agentclientprotocol/sdk';
import {McpClient} from './mcp-client.ts';
import {HttpLink} from './mcp-http.ts';
import {StdioLink} from './mcp-stdio.ts';

/** Which MCP servers the agent takes: over HTTP, only those that ACP makes mandatory, or none. */
export type McpTaken = 'http' | 'stdio' | 'none';

/** What a client is made of. */
export interface McpChoice {
  taken: McpTaken;
  env: Readonly<Record<string, string | undefined>>;
  log(text: string): void;
}

/** A client of the first server that the agent takes. One that takes HTTP finds the platform in its environment too. */
export function connectMcp(servers: readonly McpServer[], {taken, env, log}: McpChoice): McpClient | undefined {
  for (const server of servers) {
    if (taken === 'http' && 'type' in server && server.type === 'http') {
      return new McpClient(new HttpLink({url: server.url, headers: record(server.headers)}));
    }
    if (taken === 'stdio' && 'command' in server) {
      const {command, args} = server;
      return new McpClient(new StdioLink({command, args, env: {...record(pairs(env)), ...record(server.env)}}, log));
    }
  }
  const {CARREL_MCP_URL: url, CARREL_MCP_TOKEN: token} = env;
  if (taken !== 'http' || url === undefined || url === '') return undefined;
  return new McpClient(new HttpLink({url, headers: {authorization: `Bearer ${token ?? ''}`}}));
}

function record(named: readonly {name: string; value: string}[]): Record<string, string> {
  return Object.fromEntries(named.map(({name, value}) => [name, value]));
}

function pairs(env: McpChoice['env']): {name: string; value: string}[] {
  return Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [{name, value}]));
}
