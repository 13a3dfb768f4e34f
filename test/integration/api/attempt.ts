import {expect} from 'vitest';
import type {Json} from '../../../src/api/json.ts';
import {member} from '../../../src/kube/typed.ts';
import {example} from './examples.ts';
import {type ApiPlace, PLATFORM} from './place.ts';
import {objectOf, type Who, type Write} from './writers.ts';

/** What makes kubectl act as somebody of this place. */
export function as(who: Who, {namespace}: ApiPlace): string[] {
  if (who === 'platform') return PLATFORM;
  const user = who === 'robot' ? `system:serviceaccount:${namespace}:robot` : who;
  return [`--as=${user}`, '--as-group=system:authenticated'];
}

/** Tries a write under this name, and judges what is said against it and what is stored afterwards. */
export async function attempt(place: ApiPlace, row: Write, name: string): Promise<void> {
  const inPlace = (value: Json): string => JSON.stringify(value).replaceAll('NAMESPACE', place.namespace);
  const target = `${row.kind.toLowerCase()}s.carrel.dev/${name}`;
  if (row.before !== undefined)
    await place.kubectl(
      [...as(row.madeBy ?? 'platform', place), 'create', '-f', '-'],
      example(row.kind, name, row.before),
    );
  if (row.status !== undefined)
    await place.kubectl([
      ...[...PLATFORM, 'patch', target, '--type=merge', '--subresource=status', '-p'],
      JSON.stringify({status: row.status}),
    ]);
  const subresource = row.subresource === undefined ? [] : [`--subresource=${row.subresource}`];
  const who = as(row.who, place);
  const said = await (row.patch === undefined
    ? place.refusal([...who, 'create', '-f', '-'], JSON.parse(inPlace(objectOf(row, name, row.spec))))
    : place.refusal([...who, 'patch', target, '--type=merge', ...subresource, '-p', inPlace(row.patch)]));
  const expected = row.says.replaceAll('NAMESPACE', place.namespace).replaceAll('OBJECT', name);
  expect(reasonIn(said), row.state).toBe(expected);
  if (row.gives === undefined) return;
  const stored: unknown = JSON.parse(await place.kubectl(['get', target, '-o', 'json']));
  expect(member(stored, 'spec'), row.state).toMatchObject(JSON.parse(inPlace(row.gives)));
}

/** The part of kubectl's message that the policy wrote. */
function reasonIn(said: string): string {
  return said.replace(/^[\s\S]*denied request: /, '');
}
