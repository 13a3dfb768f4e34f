import {BASE_GROUPS, COMPOSITE_GROUPS} from '../../src/domain/access/groups.ts';
import {type Need, sayNeed} from '../../src/domain/access/need.ts';
import {REFUSALS} from '../../src/domain/refusal.ts';
import type {Tool} from '../../src/gateway/tool.ts';
import {TOOLS} from '../../src/gateway/tools/index.ts';

/** `docs/reference/errors.md`: every code that a refused call carries. */
export function errorsPage(): string {
  const rows = Object.entries(REFUSALS).map(([code, [status, means]]) => `| \`${code}\` | ${status} | ${means} |`);
  return [
    '# Error codes',
    '',
    'A refused call carries `{code, message}`: the code is stable, the message says what to do next. A tool puts it into its',
    'result as `code: message` with `isError`; REST answers `application/problem+json` with `code` and `detail`; `/mcp`',
    'answers a JSON-RPC error with `data.code` when the request is refused before any tool.',
    '',
    '| Code | HTTP | Means |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** `docs/reference/tools.md`: every tool, the groups that give it, and the right that a Kubernetes user needs. */
export function toolsPage(): string {
  const groups = [...BASE_GROUPS, ...COMPOSITE_GROUPS].map((g) => `\`${g}\``).join(', ');
  return [
    '# Tools',
    '',
    `Groups: ${groups}; each base group has a \`_readonly\` variant without the tools that change something. \`tool_groups\``,
    'in the URL narrows a connection to some groups and never widens it.',
    '',
    ...TOOLS.flatMap(toolSection),
  ].join('\n');
}

function toolSection(tool: Tool): string[] {
  const {description, inputSchema} = tool.describe('whole');
  const narrowed = tool.composites.self_session === 'narrowed' ? ' (fewer actions)' : '';
  const groups = [
    `\`${tool.group}\``,
    ...(tool.composites.self_session === undefined ? [] : [`\`self_session\`${narrowed}`]),
  ];
  const needs = tool.sessionOnly ? 'only for sessions' : tool.listNeeds.map(sayAll).join(' or ');
  return [
    `## ${tool.name}`,
    '',
    description,
    '',
    `Groups: ${groups.join(', ')}. Effect: ${tool.effect}. Needs: ${needs}.`,
    '',
    '```json',
    JSON.stringify(inputSchema, undefined, 2),
    '```',
    '',
  ];
}

function sayAll(needs: readonly Need[]): string {
  return needs.map((need) => `\`${sayNeed(need)}\``).join(', ');
}
