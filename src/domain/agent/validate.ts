import {GROUP_NAMES} from '../../api/groups.ts';
import type {AgentReason} from '../../api/v1alpha1/index.ts';
import {BaseUrlError, readBaseUrl} from '../model/url.ts';
import {launchBytes, launchOf, MAX_LAUNCH_BYTES} from './launch.ts';
import type {RevisionData} from './revision.ts';

/** Why a spec is not published; the schema has refused everything that it can see by itself. */
export interface AgentProblem {
  reason: AgentReason;
  message: string;
}

/** First problem of a spec that passed the schema, or undefined. */
export function agentProblem(data: RevisionData): AgentProblem | undefined {
  return unknownGroup(data) ?? invalidBaseUrl(data) ?? launchTooLarge(data);
}

function unknownGroup(data: RevisionData): AgentProblem | undefined {
  const unknown = data.spec.groups.filter((g) => !GROUP_NAMES.includes(g));
  if (unknown.length === 0) return undefined;
  return {
    reason: 'UnknownGroup',
    message: `spec.groups: ${unknown.join(', ')} does not exist; choose from ${GROUP_NAMES.join(', ')}`,
  };
}

/** What the schema's pattern lets pass and no runner could call: found here, it never becomes a failed start. */
function invalidBaseUrl({spec: {model}}: RevisionData): AgentProblem | undefined {
  if (model === undefined) return undefined;
  try {
    readBaseUrl(model.dialect, model.baseUrl);
    return undefined;
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
    const allowed = 'https://host[:port][/path], where host is a name, an IPv4 address or an IPv6 address in brackets';
    return {
      reason: 'InvalidBaseUrl',
      message: `spec.model.baseUrl: ${model.baseUrl} cannot be used (${error.message}); write ${allowed}`,
    };
  }
}

function launchTooLarge(data: RevisionData): AgentProblem | undefined {
  const bytes = launchBytes(launchOf(data, undefined));
  if (bytes <= MAX_LAUNCH_BYTES) return undefined;
  return {
    reason: 'LaunchTooLarge',
    message: `spec.command, args, env, files and instructions take ${bytes} bytes together; at most ${MAX_LAUNCH_BYTES} fit. Shorten them, or put files into the workspace image`,
  };
}
