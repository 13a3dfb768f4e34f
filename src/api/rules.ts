import type {Rule} from './resource.ts';

/** A field that never changes once the object exists: adding and removing are caught too. Stands on the required parent. */
export function immutable(field: string): Rule {
  return {
    rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message: `${field} is immutable`,
    reason: 'FieldValueForbidden',
    fieldPath: `.${field}`,
  };
}

/**
 * A field of spec that may be set once and then neither changed nor removed; it may be replaced while `unless`, an expression
 * over `oldSelf`, holds. A root rule, because it looks at status, which nobody but the platform writes.
 */
export function writeOnceUnless(field: string, unless: string, when: string): Rule {
  const [old, now] = [`oldSelf.spec.${field}`, `self.spec.${field}`];
  return {
    rule: `!has(${old}) || (has(${now}) && (${now} == ${old} || (${unless})))`,
    message: `${field} can be set once and not changed, unless ${when}`,
    reason: 'FieldValueForbidden',
    fieldPath: `.spec.${field}`,
  };
}

/** A field that is set once, and changes later only together with `other`. Stands on the required parent. */
export function changesWith(field: string, other: string): Rule {
  const changed = `(has(self.${other}) && has(oldSelf.${other}) && self.${other} != oldSelf.${other})`;
  return {
    rule: `!has(oldSelf.${field}) || (has(self.${field}) && self.${field} == oldSelf.${field}) || ${changed}`,
    message: `${field} can be set once and not changed, unless ${other} changes with it`,
    reason: 'FieldValueForbidden',
    fieldPath: `.${field}`,
  };
}

/** A field that may be set once and then neither changed nor removed, but one value may still be followed by another: a first wish that came too late leaves a way on. */
export function writeOnceOr(field: string, [from, to]: readonly [string, string]): Rule {
  const follows = `(oldSelf.${field} == '${from}' && self.${field} == '${to}')`;
  return {
    rule: `!has(oldSelf.${field}) || (has(self.${field}) && (self.${field} == oldSelf.${field} || ${follows}))`,
    message: `${field} can be set once and not changed; only ${from} may be followed by ${to}`,
    reason: 'FieldValueForbidden',
    fieldPath: `.${field}`,
  };
}

/** Exactly one of the optional members is set: our form of a union. */
export function exactlyOne(...fields: string[]): Rule {
  return {
    rule: `[${fields.map((f) => `has(self.${f})`).join(', ')}].exists_one(x, x)`,
    message: `exactly one of ${fields.join(', ')} must be set`,
  };
}

/** Terminal phases never change. A root rule, because `status: null` slips past a rule on `status`. */
export function terminalPhases(phases: readonly string[]): Rule {
  const list = phases.map((p) => `'${p}'`).join(', ');
  const had = '!has(oldSelf.status) || !has(oldSelf.status.phase)';
  return {
    rule: `${had} || !(oldSelf.status.phase in [${list}]) || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)`,
    message: `a terminal phase (${phases.join(', ')}) never changes`,
    reason: 'FieldValueForbidden',
    fieldPath: '.status.phase',
  };
}
