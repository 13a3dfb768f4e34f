import type {Launch} from '../../api/launch.ts';
import {seconds} from '../duration.ts';
import type {RevisionData} from './revision.ts';

/** Names of the mounted files of the model's key and of its certificates. */
export const MODEL_FILE = {key: 'key', origin: 'origin', ca: 'ca.pem'} as const;

/** Most bytes of a launch document: it travels in one environment variable, which Linux limits to 128 KiB. */
export const MAX_LAUNCH_BYTES = 98_304;

/** How the runner starts the agent of this revision, with the model that the Session chose. */
export function launchOf(revision: RevisionData, modelName: string | undefined): Launch {
  const {spec} = revision;
  return {
    command: spec.command,
    args: spec.args ?? [],
    env: (spec.env ?? []).flatMap((e) => (e.value === undefined ? [] : [{name: e.name, value: e.value}])),
    files: spec.files ?? [],
    harness: spec.harness,
    ...(spec.instructions === undefined ? {} : {instructions: spec.instructions}),
    ...(spec.model === undefined
      ? {}
      : {
          model: {
            name: modelName ?? spec.model.name,
            dialect: spec.model.dialect,
            baseUrl: spec.model.baseUrl,
            proxy: spec.model.proxy,
            ...(spec.model.key === undefined ? {} : {keyFile: MODEL_FILE.key, keyFrom: spec.model.key}),
            ...(spec.model.caBundle === undefined ? {} : {caFile: MODEL_FILE.ca, caFrom: spec.model.caBundle}),
          },
        }),
    limits: {start: seconds(spec.limits.start), turn: seconds(spec.limits.turn)},
  };
}

/** Bytes of the launch document as it travels. */
export function launchBytes(launch: Launch): number {
  return Buffer.byteLength(JSON.stringify(launch), 'utf8');
}

/** Models that a Session of this revision may name. */
export function allowedModels(revision: RevisionData): string[] {
  const model = revision.spec.model;
  return model === undefined ? [] : [...new Set([model.name, ...(model.allowed ?? [])])];
}
