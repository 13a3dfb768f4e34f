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
    ...launch.env.map(({name, value}) => ({name, value: filled(value, given)})),
    ...placeholderNames().map((key) => ({name: AGENT_ENV[key], value: given[key]})),
  ];
}

/** `files[]` with the placeholders filled in. */
export function launchFiles(launch: Launch, given: Placeholders): {path: string; content: string}[] {
  return launch.files.map(({path, content}) => ({path, content: filled(content, given)}));
}

/** The closed set of placeholders is filled in; any other `${...}` stays as it is. */
function filled(text: string, given: Placeholders): string {
  const values = new Map(placeholderNames().map((key) => [`\${${AGENT_ENV[key]}}`, given[key]]));
  return text.replaceAll(/\$\{CARREL_[A-Z_]+\}/g, (found) => values.get(found) ?? found);
}

function placeholderNames(): (keyof typeof AGENT_ENV)[] {
  return ['modelUrl', 'modelKey', 'modelName', 'mcpUrl', 'mcpToken', 'proxyUrl'];
}
