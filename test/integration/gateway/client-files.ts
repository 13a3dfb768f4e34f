import {parse as parseToml} from 'smol-toml';
import {z} from 'zod';
import {fencesOf} from '../../support/documents.ts';

/** What a client takes from its file: where it connects to, and what it sends along. */
export interface Configured {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

const PAGE = 'docs/gateway.md';
const Headers = z.record(z.string(), z.string());
const ClaudeFile = z.strictObject({
  mcpServers: z.strictObject({
    carrel: z.strictObject({type: z.literal('http'), url: z.url(), headers: Headers}),
  }),
});
const CodexFile = z.strictObject({
  mcp_servers: z.strictObject({carrel: z.strictObject({url: z.url(), http_headers: Headers})}),
});

/** What Claude Code reads of the `.mcp.json` that the gateway's page shows, with somebody's address and key filled in. */
export function claudeCode(address: string, key: string): Configured {
  const {url, headers} = ClaudeFile.parse(JSON.parse(filled('json', address, key))).mcpServers.carrel;
  return {url: new URL(url), headers};
}

/** What Codex reads of the `config.toml` that the gateway's page shows, with somebody's address and key filled in. */
export function codex(address: string, key: string): Configured {
  const {url, http_headers: headers} = CodexFile.parse(parseToml(filled('toml', address, key))).mcp_servers.carrel;
  return {url: new URL(url), headers};
}

/** The one block of that language on the page. A person replaces the two values that stand for theirs, and nothing else. */
function filled(language: string, address: string, key: string): string {
  const blocks = fencesOf(PAGE).filter((fence) => fence.language === language);
  const [block] = blocks;
  if (block === undefined || blocks.length > 1) throw new Error(`${PAGE} has ${blocks.length} blocks of ${language}`);
  return replaceOnce(replaceOnce(block.text, 'https://carrel.example/mcp/team-a', address), '<key>', key);
}

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`"${from}" stands ${parts.length - 1} times in ${text}`);
  return parts.join(to);
}
