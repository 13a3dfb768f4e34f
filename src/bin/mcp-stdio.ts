import {Bridge} from '../bridge/bridge.ts';
import {readMcpStdioConfig} from '../config/mcp-stdio.ts';

/** Entry of the stdio bridge: an agent that takes MCP servers over stdio only starts it, in its own container. */
const say = (text: string) => process.stderr.write(`mcp-stdio: ${text}\n`);
try {
  const endpoint = readMcpStdioConfig(process.env);
  await new Bridge({endpoint, input: process.stdin, output: process.stdout, say}).run();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(2);
}
process.exit(0);
