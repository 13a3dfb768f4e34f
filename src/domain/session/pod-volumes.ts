import type {Volume} from '../../api/kube-pod.ts';
import {AUDIENCE, SECRET_ORIGIN_KEY} from '../../api/meta.ts';
import {TOKEN_FILE, VOLUME} from '../../api/pod.ts';
import {MODEL_FILE} from '../agent/launch.ts';
import type {PodInput} from './pod.ts';

/** Seconds that a projected token lives; the kubelet renews it at 80 %. The shortest that Kubernetes allows. */
const TOKEN_SECONDS = 600;

/** Volumes of a session pod. */
export function podVolumes(input: PodInput): Volume[] {
  const image = input.delivery === 'ImageVolume';
  return [
    {
      name: VOLUME.runtime,
      ...(image ? {image: {reference: input.runtimeImage, pullPolicy: 'IfNotPresent'}} : {emptyDir: {}}),
    },
    {name: VOLUME.socket, emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
    {name: VOLUME.state, emptyDir: {medium: 'Memory', sizeLimit: '16Mi'}},
    {name: VOLUME.tokens, projected: {sources: [token('mcp'), token('runner'), token('egress')]}},
    ...modelVolumes(input),
    {name: VOLUME.data, persistentVolumeClaim: {claimName: input.claimName}},
    {name: VOLUME.tmp, emptyDir: {medium: 'Memory', sizeLimit: '128Mi'}},
    ...sourceVolume(input),
  ];
}

function token(which: 'mcp' | 'runner' | 'egress') {
  return {
    serviceAccountToken: {audience: AUDIENCE[which], expirationSeconds: TOKEN_SECONDS, path: TOKEN_FILE[which]},
  };
}

/**
 * Key and certificates of the model, for the runner only. They are optional to the kubelet: the runner says which file is
 * missing, where a pod that waits for a Secret would say nothing at all.
 */
function modelVolumes(input: PodInput): Volume[] {
  const model = input.revision.spec.model;
  const volumes: Volume[] = [];
  if (model?.key !== undefined) {
    const {secret, key} = model.key;
    const items = [
      {key, path: MODEL_FILE.key},
      {key: SECRET_ORIGIN_KEY, path: MODEL_FILE.origin},
    ];
    volumes.push({name: VOLUME.modelKey, secret: {secretName: secret, optional: true, items}});
  }
  if (model?.caBundle !== undefined) {
    const {configMap, key} = model.caBundle;
    volumes.push({
      name: VOLUME.modelCa,
      configMap: {name: configMap, optional: true, items: [{key, path: MODEL_FILE.ca}]},
    });
  }
  return volumes;
}

function sourceVolume(input: PodInput): Volume[] {
  const reference = input.revision.spec.workspace.image;
  if (!input.seed || input.delivery !== 'ImageVolume' || reference === undefined) return [];
  return [{name: VOLUME.source, image: {reference, pullPolicy: 'IfNotPresent'}}];
}
