import type {KubeObject} from '../../api/kube-object.ts';
import {ANNOTATION_IDEMPOTENCY} from '../../api/meta.ts';
import {canonicalHash} from '../canonical.ts';

/** Annotation of an object made with a key: which family and principal made it, and a digest of the arguments. */
export function idempotencyRecord(family: string, principal: string, args: unknown): Record<string, string> {
  return {
    [ANNOTATION_IDEMPOTENCY]: `${family}/${canonicalHash(principal).slice(0, 16)}/${canonicalHash(args).slice(0, 32)}`,
  };
}

/** True when the platform made the object for this family of calls; who and with what does not count (Z-083, Z-084). */
export function madeByFamily(object: KubeObject, family: string): boolean {
  return object.metadata.annotations?.[ANNOTATION_IDEMPOTENCY]?.startsWith(`${family}/`) === true;
}

/** True when the same principal made the object with the same arguments. */
export function madeBySameCall(object: KubeObject, record: Readonly<Record<string, string>>): boolean {
  const own = record[ANNOTATION_IDEMPOTENCY];
  return own !== undefined && object.metadata.annotations?.[ANNOTATION_IDEMPOTENCY] === own;
}
