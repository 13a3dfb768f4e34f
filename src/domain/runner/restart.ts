/** An agent that exits is started again in place so often in this time, in milliseconds. */
export const RESTARTS = {most: 3, within: 600_000} as const;

/** Whether one more start is allowed now, and the starts that count from here on. */
export function planRestart(earlier: readonly number[], now: number): {restart: boolean; counted: number[]} {
  const counted = earlier.filter((at) => now - at < RESTARTS.within);
  if (counted.length >= RESTARTS.most) return {restart: false, counted};
  return {restart: true, counted: [...counted, now]};
}
