import {cleanText, head} from '../domain/runner/clean.ts';
import type {Finding} from './loopback/ports.ts';
import type {Report} from './reporter.ts';
import type {RunningAgent} from './running-agent.ts';

/** What the agent said of itself, within the bounds of the protocol. */
export function agentSaid({greeting}: RunningAgent): NonNullable<Report['agent']> {
  const {agentInfo, agentCapabilities, protocolVersion} = greeting;
  return {
    ...(agentInfo ? {name: head(cleanText(agentInfo.name), 128), version: head(cleanText(agentInfo.version), 64)} : {}),
    protocolVersion,
    capabilities: capabilityNames(agentCapabilities),
  };
}

/** The report of an agent that can take turns. */
export function readyReport(agent: RunningAgent, findings: readonly Finding[]): Report {
  const rebuilt = {
    type: 'ConversationRebuilt',
    reason: 'ConversationRebuilt',
    message: 'the agent could not bring its conversation back; it is told the end of the transcript',
  };
  return {
    state: 'Ready',
    agentSessionId: agent.sessionId.slice(0, 512),
    conversation: agent.conversation,
    agent: agentSaid(agent),
    findings: [...findings, ...(agent.conversation === 'Rebuilt' ? [rebuilt] : [])],
  };
}

function capabilityNames(capabilities: RunningAgent['greeting']['agentCapabilities']): string[] {
  const {loadSession, mcpCapabilities, sessionCapabilities} = capabilities ?? {};
  return [
    ...(loadSession === true ? ['loadSession'] : []),
    ...(mcpCapabilities?.http === true ? ['mcp.http'] : []),
    ...Object.entries(sessionCapabilities ?? {}).flatMap(([name, value]) =>
      value != null && name !== '_meta' ? [`session.${cleanText(name).slice(0, 40)}`] : [],
    ),
  ].slice(0, 32);
}
