import type {z} from 'zod';
import type {ConditionSet} from './conditions.ts';
import {GROUP, MAX_NAME, VERSION} from './meta.ts';

/** A CEL rule as the CRD carries it. */
export interface Rule {
  rule: string;
  message: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A printer column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean';
  jsonPath: string;
  description: string;
  /** 1 = only with `-o wide`. */
  priority?: 0 | 1;
}

/** A kind of ours: schema, rules, columns and conditions in one value; CRD, chart, docs and types come from it. */
export interface ResourceDefinition<Spec extends z.ZodObject, Status extends z.ZodObject, C extends ConditionSet> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  namespaced: true;
  description: string;
  spec: Spec;
  status: Status;
  conditions: C;
  columns: Column[];
  selectableFields: string[];
  /** Longest `metadata.name`; 48, so that children fit, but for kinds whose names are generated and have no children. */
  maxName: number;
  /** Root rules: transition rules only, for ever (they never ratchet). */
  rootRules: Rule[];
}

/** Declares a kind. */
export function defineResource<Spec extends z.ZodObject, Status extends z.ZodObject, C extends ConditionSet>(
  definition: Omit<ResourceDefinition<Spec, Status, C>, 'group' | 'version' | 'namespaced' | 'maxName'> & {
    maxName?: number;
  },
): ResourceDefinition<Spec, Status, C> {
  return {group: GROUP, version: VERSION, namespaced: true, maxName: MAX_NAME, ...definition};
}
