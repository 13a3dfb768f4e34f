import {AGENT_ENV, BLANKED_ENV} from '../api/pod.ts';
import type {Greeting, McpServers} from './acp.ts';
import {agentError} from './agent-refused.ts';
import type {StartTools} from './agent-start.ts';
import type {Finding} from './loopback/ports.ts';

/** Milliseconds from session to the first `tools/list`: ACP has no other sign that the agent has its tools. */
const WAIT = 10_000;
const INVALID_PARAMS = -32_602;

/** The way to the platform's tools that a session is opened with. */
export class PlatformTools {
  private readonly tools: StartTools;
  /** `none`: it refused the session with it. */
  private way: 'http' | 'stdio' | 'none';

  constructor(tools: StartTools, greeting: Greeting) {
    this.tools = tools;
    const http = greeting.agentCapabilities?.mcpCapabilities?.http === true || tools.launch.harness.assumeMcpHttp;
    this.way = http ? 'http' : 'stdio';
  }

  /**
   * Opens a session with the tools. Stdio is mandatory in ACP and so never announced: an agent that does not take such a
   * server is asked again without one.
   */
  async with<T>(open: (servers: McpServers) => Promise<T>): Promise<T> {
    try {
      return await open(this.servers());
    } catch (error) {
      if (this.way !== 'stdio' || agentError(error)?.code !== INVALID_PARAMS) throw error;
      const opened = await open([]);
      this.way = 'none';
      return opened;
    }
  }

  /** A finding when the agent does not ask for its tools in time; it goes on without them. */
  async findings(): Promise<Finding[]> {
    const missing = (message: string): Finding[] => [{type: 'ToolsNotConnected', reason: 'ToolsNotConnected', message}];
    const without = 'it goes on without tools';
    if (this.way === 'none') {
      return missing(`the agent announces no MCP over HTTP and refused an MCP server over stdio; ${without}`);
    }
    if (await this.listed()) return [];
    const late = `did not list the tools within ${WAIT / 1_000} s; ${without}`;
    return this.way === 'http'
      ? missing(`the agent ${late}`)
      : missing(`the agent announces no MCP over HTTP, was given an MCP server over stdio, and ${late}`);
  }

  private async listed(): Promise<boolean> {
    const {loopback} = this.tools;
    if (loopback.toolsListed()) return true;
    const listed = Promise.withResolvers<boolean>();
    const unsubscribe = loopback.onToolsListed(() => listed.resolve(true));
    const timer = setTimeout(() => listed.resolve(loopback.toolsListed()), WAIT);
    const found = await listed.promise;
    clearTimeout(timer);
    unsubscribe();
    return found;
  }

  private servers(): McpServers {
    const {loopback, bridge} = this.tools;
    const name = 'platform';
    if (this.way === 'http') {
      const headers = [{name: 'Authorization', value: `Bearer ${loopback.mcpToken}`}];
      return [{type: 'http', name, url: loopback.mcpUrl, headers}];
    }
    const [command = '', ...args] = bridge;
    const env = [
      {name: AGENT_ENV.mcpUrl, value: loopback.mcpUrl},
      {name: AGENT_ENV.mcpToken, value: loopback.mcpToken},
      // The Agent's own values are for the agent, not for a binary of ours.
      ...BLANKED_ENV.map((blank) => ({name: blank, value: ''})),
    ];
    return [{name, command, args, env}];
  }
}
