import {join} from 'node:path';
import {parseAllDocuments} from 'yaml';
import {run} from '../../../hack/cluster/command.ts';
import {isJson, type Json} from '../../../src/api/json.ts';
import {member, text} from '../../../src/kube/typed.ts';
import {IMAGE} from './examples.ts';
import type {ApiPlace} from './place.ts';

const CHART = join(import.meta.dirname, '../../../charts/carrel');

/** The chart's templates as the API server gets them, for a cluster of this version. */
export async function renderChart(helm: string, ...options: string[]): Promise<Json[]> {
  const api = 'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy';
  const given = [
    '--namespace',
    'carrel-system',
    '--set',
    `image.reference=${IMAGE}`,
    '--api-versions',
    api,
    ...options,
  ];
  const yaml = await run(helm, ['template', 'carrel', CHART, ...given]);
  return parseAllDocuments(yaml)
    .map((document): unknown => document.toJS())
    .filter(isJson);
}

/** The policies of the chart under names of their own and for one namespace only, so that nobody else's test meets them. */
export async function policiesFor(place: ApiPlace): Promise<Json[]> {
  const rendered = await renderChart(place.cluster.tools.helm, '--set', `nameOverride=${place.namespace}`);
  // Accounts are named after the release: the tests' platform user must be among them.
  const users = (json: unknown): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll(`carrel-system:${place.namespace}-`, 'carrel-system:carrel-'));
  return rendered
    .filter((object) => text(object, 'kind').includes('AdmissionPolicy'))
    .map((object) => users(object))
    .filter(isJson)
    .map((object) => (text(object, 'kind').endsWith('Binding') ? object : onlyIn(place.namespace, object)));
}

function onlyIn(namespace: string, policy: Json): Json {
  const spec = member(policy, 'spec');
  const namespaceSelector = {matchLabels: {'kubernetes.io/metadata.name': namespace}};
  return {...policy, spec: {...spec, matchConstraints: {...member(spec, 'matchConstraints'), namespaceSelector}}};
}
