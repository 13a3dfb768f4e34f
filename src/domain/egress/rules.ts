import type {AgentSpec} from '../../api/v1alpha1/index.ts';
import {firstFew} from '../first-few.ts';
import {isWithin, parseAddress, parseRange} from './address.ts';
import type {Target} from './target.ts';

/** What a connection is for; only the runner can say it, because only the runner holds the token. */
export type Purpose = 'model' | 'agent';

/** Allowed, or why not: a sentence that names what is allowed. */
export type RuleVerdict = {readonly allowed: true} | {readonly allowed: false; readonly message: string};

type EgressRule = AgentSpec['network']['egress'][number];

const DEFAULT_PORTS: readonly number[] = [443];
const MAX_LISTED = 8;

/** Whether the published Agent lets this purpose reach this target, before any name is resolved. */
export function judgeTarget(spec: Pick<AgentSpec, 'model' | 'network'>, purpose: Purpose, target: Target): RuleVerdict {
  return purpose === 'model' ? judgeModel(spec.model?.baseUrl, target) : judgeAgent(spec.network.egress, target);
}

function judgeModel(baseUrl: string | undefined, target: Target): RuleVerdict {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return refused(target, 'the Agent has no model');
  const {hostname, port} = new URL(baseUrl);
  const wanted = Number(port === '' ? 443 : port);
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isHost(host, target) && wanted === target.port) return {allowed: true};
  return refused(target, `the model may be reached at ${hostname}:${wanted} only`);
}

/** An address has many forms: it is the number that counts. */
function isHost(host: string, target: Target): boolean {
  const address = parseAddress(host);
  if (address === undefined) return host === target.host;
  return address.family === target.address?.family && address.value === target.address.value;
}

function judgeAgent(rules: readonly EgressRule[], target: Target): RuleVerdict {
  if (rules.some((rule) => matches(rule, target))) return {allowed: true};
  if (rules.length === 0) return refused(target, 'the Agent lists no hosts in network.egress');
  const listed = rules.map((r) => `${r.host ?? r.cidr}:${(r.ports ?? DEFAULT_PORTS).join(',')}`);
  return refused(target, `network.egress of the Agent allows ${firstFew(listed, MAX_LISTED, ' ')}`);
}

// A range is for addresses only: resolving any name to see whether it lies in the range would let names leak out.
function matches(rule: EgressRule, {host, port, address}: Target): boolean {
  if (!(rule.ports ?? DEFAULT_PORTS).includes(port)) return false;
  if (rule.cidr !== undefined) {
    const range = parseRange(rule.cidr);
    return range !== undefined && address !== undefined && isWithin(address, range);
  }
  if (rule.host?.startsWith('*.') === true) return address === undefined && host.endsWith(rule.host.slice(1));
  return rule.host === host;
}

function refused(target: Target, allowed: string): RuleVerdict {
  return {allowed: false, message: `${target.host}:${target.port} is not allowed: ${allowed}`};
}
