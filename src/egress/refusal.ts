/** Every reason for which a tunnel is not made, with its HTTP status: stable codes, `src/api/wire/egress.ts`. */
export const EGRESS_REFUSALS = {
  connect_only: 405,
  target_invalid: 400,
  purpose_invalid: 400,
  token_missing: 407,
  token_refused: 407,
  no_verdict: 503,
  not_bound: 403,
  revision_unknown: 503,
  revision_invalid: 403,
  host_not_allowed: 403,
  address_not_allowed: 403,
  name_not_found: 502,
  connect_failed: 502,
  too_many: 503,
  not_ready: 503,
  internal: 503,
} as const;

/** A stable code. */
export type EgressCode = keyof typeof EGRESS_REFUSALS;

/** Why a tunnel is not made. */
export class EgressRefusal extends Error {
  override readonly name = 'EgressRefusal';
  readonly code: EgressCode;

  constructor(code: EgressCode, message: string, options?: {cause?: unknown}) {
    super(message, options);
    this.code = code;
  }

  /** HTTP status that goes with the code. */
  get status(): number {
    return EGRESS_REFUSALS[this.code];
  }
}
