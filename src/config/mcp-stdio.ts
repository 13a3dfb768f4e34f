import {AGENT_ENV} from '../api/pod.ts';

/** Settings of the stdio bridge: the endpoint in the pod, and the key of the attempt. */
export type McpStdioConfig = {readonly url: URL; readonly key: string};

/** Reads the settings from the names that the agent's own process has too. Checked by hand, as the shim's are. */
export function readMcpStdioConfig(env: NodeJS.ProcessEnv): McpStdioConfig {
  const text = env[AGENT_ENV.mcpUrl] ?? '';
  const key = env[AGENT_ENV.mcpToken] ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:') {
    throw new Error(`${AGENT_ENV.mcpUrl} must be the http URL of the platform's endpoint in this pod`);
  }
  if (key === '') throw new Error(`${AGENT_ENV.mcpToken} must be the key of this attempt`);
  return Object.freeze({url, key});
}
