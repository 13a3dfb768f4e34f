import {z} from 'zod';
import {MAX_NAME} from './meta.ts';
import type {Rule} from './resource.ts';

/** Schema pieces of the kinds. Everything is bounded and described: bounds keep CEL affordable, descriptions are `kubectl explain`. */

interface KubernetesMeta {
  description?: string;
  'x-kubernetes-validations'?: Rule[];
  'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  'x-kubernetes-list-map-keys'?: string[];
  format?: string;
}

/** The one way to put `x-kubernetes-*` keys on a schema. */
export function k8s<T extends z.ZodType>(schema: T, meta: KubernetesMeta): T {
  return schema.meta({...schema.meta(), ...meta});
}

/** Text of at most `max` characters. */
export function text(max: number, description: string): z.ZodString {
  return z.string().max(max).describe(description);
}

/** Text of one form. A rule and no pattern: the API server refuses by a rule in its words, and by a pattern in its signs. */
export function ofForm(schema: z.ZodString, form: RegExp, message: string): z.ZodString {
  // Once more escaped: a text of CEL.
  const rule = {rule: `self.matches('${form.source.replaceAll('\\', '\\\\')}')`, message};
  return k8s(
    schema.refine((value) => form.test(value), message),
    {'x-kubernetes-validations': [rule]},
  );
}

/** Name of an object of this namespace. */
export function objectName(description: string, max: number = MAX_NAME): z.ZodString {
  return ofForm(
    z.string().min(1).max(max).describe(description),
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    'must be the name of an object: lower-case letters, digits, - and ., with a letter or digit first and last',
  );
}

/** Length of time: one number and one unit of s, m, h, d, such as `30s` or `10m`. */
export function duration(description: string): z.ZodString {
  const form = 'one number and one unit: s, m, h or d, for example 30s or 10m';
  return ofForm(
    text(12, `${description} ${form.replace('one', 'One')}.`),
    /^[1-9][0-9]{0,7}[smhd]$/,
    `must be a length of time: ${form}; the number is a whole one above 0`,
  );
}

/** RFC 3339 time, set by a process of the platform. */
export function time(description: string): z.ZodString {
  return k8s(z.string().max(40).describe(description), {format: 'date-time'});
}

/** Kubernetes quantity as text. */
export function quantity(description: string): z.ZodString {
  return ofForm(
    text(24, description),
    /^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/,
    'must be a quantity: a number, and m, k, Ki, M, Mi, G, Gi, T or Ti behind it if wanted, for example 500m or 1Gi',
  );
}

/** Whole number between the bounds. */
export function integer(min: number, max: number, description: string): z.ZodInt {
  return z.int().min(min).max(max).describe(description);
}

/** Image by digest, `repository[:tag]@sha256:<64 hex digits>`. */
export function imageByDigest(description: string): z.ZodString {
  return ofForm(
    text(512, `${description} Always by digest: name@sha256:<64 hex digits>.`),
    /^[^@\s]+@sha256:[a-f0-9]{64}$/,
    'must be pinned by digest: name@sha256:<64 hex digits>. Get it with `crane digest <image>`, or from a pod that runs the image: `kubectl get pod <pod> -o jsonpath={..imageID}`',
  );
}

/** Address range, `address/prefix`. A rule, because no pattern sees a bit beyond the prefix, and such a range matches nothing. */
export function addressRange(description: string): z.ZodString {
  const form = 'address/prefix with no bits set beyond the prefix, for example 10.2.0.0/16 or 2001:db8::/32';
  const rule = {
    rule: 'isCIDR(self) && cidr(self) == cidr(self).masked()',
    message: `must be an address range: ${form}. For one address write /32, or /128 for IPv6`,
  };
  return k8s(text(49, `Address range, ${form}. ${description}`), {'x-kubernetes-validations': [rule]});
}

/** List that is replaced as a whole. */
export function list<T extends z.ZodType>(item: T, max: number, description: string): z.ZodArray<T> {
  return k8s(z.array(item).max(max).describe(description), {'x-kubernetes-list-type': 'atomic'});
}

/** Standard condition list of a kind, keyed by type; its only writer is the controller. */
export const conditions = k8s(
  z
    .array(
      z.object({
        type: text(64, 'Name of the condition.'),
        status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
        observedGeneration: k8s(z.int().min(0).describe('Generation of the spec that was judged.'), {
          format: 'int64',
        }).optional(),
        lastTransitionTime: time('When the status last changed.'),
        reason: text(64, 'Documented reason, one word.'),
        message: text(1024, 'What happened, and what to do next.'),
      }),
    )
    .max(20)
    .describe('Observed conditions of the object.'),
  {'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type']},
);

/** Generation that the whole status was computed from. */
export const observedGeneration = k8s(
  z.int().min(0).describe('Generation of the spec that this status was computed from.'),
  {
    format: 'int64',
  },
);
