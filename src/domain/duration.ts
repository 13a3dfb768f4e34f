const UNIT_SECONDS: Readonly<Record<string, number>> = {s: 1, m: 60, h: 3600, d: 86_400};

/** Seconds of a duration such as `30s`, `10m`, `1h`, `7d`; throws on text that the schema would have refused. */
export function seconds(duration: string): number {
  const match = /^([0-9]+)([smhd])$/.exec(duration);
  const unit = match?.[2] === undefined ? undefined : UNIT_SECONDS[match[2]];
  if (match === null || unit === undefined) throw new Error(`not a duration: ${JSON.stringify(duration)}`);
  return Number(match[1]) * unit;
}
