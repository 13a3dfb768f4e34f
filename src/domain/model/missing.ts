import {SECRET_ORIGIN_KEY} from '../../api/meta.ts';

/** The Secret of `model.key` as its author knows it. */
export interface KeyPlace {
  readonly namespace: string;
  readonly secret: string;
  readonly key: string;
  /** Origin of `model.baseUrl`. */
  readonly origin: string;
}

/** What is mounted of it; undefined where there is no such file. The values are looked at, never said. */
export interface KeyMounted {
  readonly key: string | undefined;
  readonly origin: string | undefined;
}

/** What the Secret of `model.key` lacks and the command that mends it; undefined where it lacks nothing. */
export function sayMissingKey(place: KeyPlace, mounted: KeyMounted): string | undefined {
  const {namespace, secret, key, origin} = place;
  const named = `the Secret "${secret}" of model.key`;
  // The mount is optional and holds these two keys only: no Secret looks the same as one that has neither.
  if (mounted.key === undefined && mounted.origin === undefined) {
    const literals = `--from-literal='${key}=<provider key>' --from-literal=${SECRET_ORIGIN_KEY}=${origin}`;
    return `${named} does not exist, or has neither of the keys "${key}" and "${SECRET_ORIGIN_KEY}": kubectl create secret generic ${secret} -n ${namespace} ${literals} (if it exists, add them to it)`;
  }
  const needs: [string, string | undefined, string][] = [
    [key, mounted.key, '<provider key>'],
    [SECRET_ORIGIN_KEY, mounted.origin, origin],
  ];
  const lacks = needs.filter(([, value]) => value === undefined || value.trim() === '');
  if (lacks.length === 0) return undefined;
  const said = lacks.map(([name, value]) => (value === undefined ? `has no key "${name}"` : `has an empty "${name}"`));
  const patch = JSON.stringify({stringData: Object.fromEntries(lacks.map(([name, , value]) => [name, value]))});
  return `${named} ${said.join(' and ')}: kubectl patch secret ${secret} -n ${namespace} --type=merge -p '${patch}'`;
}
