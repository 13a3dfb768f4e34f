import type {Launch} from '../../api/launch.ts';
import {AGENT_ENV} from '../../api/pod.ts';

/** What the loopback servers gave for this attempt. */
export type Placeholders = Record<keyof typeof AGENT_ENV, string>;

/** Environment that the start adds to the container's: proxy settings, the Agent's own, then ours, which win. */
export function launchEnvironment(launch: Launch, given: Placeholders): {name: string; value: string}[] {
  return [
    {name: 'HTTPS_PROXY', value: given.proxyUrl},
    {name: 'https_proxy', value: given.proxyUrl},
    {name: 'NO_PROXY', value: '127.0.0.1,localhost'},
    {name: 'no_proxy', value: '127.0.0.1,localhost'},
    {name: 'NODE_USE_ENV_PROXY', value: '1'},
    ...launch.env,
    ...placeholderNames().map((key) => ({name: AGENT_ENV[key], value: given[key]})),
  ];
}

/** `files[]` with the closed set of placeholders filled in; any other `${...}` stays as it is. */
export function launchFiles(launch: Launch, given: Placeholders): {path: string; content: string}[] {
  const values = new Map(placeholderNames().map((key) => [`\${${AGENT_ENV[key]}}`, given[key]]));
  return launch.files.map((file) => ({
    path: file.path,
    content: file.content.replaceAll(/\$\{CARREL_[A-Z_]+\}/g, (found) => values.get(found) ?? found),
  }));
}

function placeholderNames(): (keyof typeof AGENT_ENV)[] {
  return ['modelUrl', 'modelKey', 'modelName', 'mcpUrl', 'mcpToken', 'proxyUrl'];
}
