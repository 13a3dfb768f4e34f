import {MAX_NAME, uid8} from '../../api/meta.ts';
import {canonicalHash} from '../canonical.ts';

/** Name of a Session made with an idempotency key: equal for all callers of a namespace, so that the create conflict is the test. */
export function keyedSessionName(namespace: string, key: string): string {
  return `s-${canonicalHash([namespace, 'start_session', key]).slice(0, 24)}`;
}

/** Name of a Session made without a key: readable, and never used before. */
export function freshSessionName(agent: string, random: string): string {
  return `${trim(agent, MAX_NAME - 11)}-${random.slice(0, 10)}`;
}

/** Name of a Turn or Question of a Session; `suffix` is a hash or random, lower-case letters and digits. */
export function childName(session: {name: string; uid: string}, suffix: string): string {
  return `${trim(session.name, MAX_NAME - 10 - 14)}-${uid8(session.uid)}-${suffix.slice(0, 14)}`;
}

/** Suffix of a child made with an idempotency key. */
export function keyedSuffix(parts: readonly string[]): string {
  return canonicalHash(parts).slice(0, 13);
}

function trim(name: string, max: number): string {
  return name.slice(0, max).replace(/[-.]+$/, '');
}
