import type {z} from 'zod';
import type {ConditionSet} from './conditions.ts';
import type {ResourceDefinition} from './resource.ts';
import {type StructuralSchema, toStructural} from './structural.ts';

/** Any kind of ours, whatever its schemas are. */
export type AnyResource = ResourceDefinition<z.ZodObject, z.ZodObject, ConditionSet>;

/** The CustomResourceDefinition of a kind, as plain JSON. */
export function toCrd(resource: AnyResource): StructuralSchema {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {name: `${resource.plural}.${resource.group}`},
    spec: {
      group: resource.group,
      scope: 'Namespaced',
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: resource.singular,
        shortNames: resource.shortNames,
        categories: ['carrel'],
      },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          subresources: {status: {}},
          additionalPrinterColumns: resource.columns,
          ...(resource.selectableFields.length === 0
            ? {}
            : {selectableFields: resource.selectableFields.map((jsonPath) => ({jsonPath}))}),
          schema: {openAPIV3Schema: root(resource)},
        },
      ],
    },
  };
}

function root(resource: AnyResource): StructuralSchema {
  return {
    type: 'object',
    description: resource.description,
    required: ['spec'],
    ...(resource.rootRules.length === 0 ? {} : {'x-kubernetes-validations': resource.rootRules}),
    properties: {
      apiVersion: {type: 'string'},
      kind: {type: 'string'},
      metadata: {
        type: 'object',
        properties: {
          name: {
            type: 'string',
            maxLength: resource.maxName,
            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
          },
        },
      },
      spec: {description: `What is wanted of the ${resource.kind}.`, ...toStructural(resource.spec)},
      status: {
        description: `What was seen of the ${resource.kind}; written by the platform only.`,
        ...toStructural(resource.status),
      },
    },
  };
}
