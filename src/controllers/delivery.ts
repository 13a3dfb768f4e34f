import type {RuntimeDelivery} from '../domain/session/pod.ts';

/** How the runtime is delivered: Auto begins with image volumes and is switched when the cluster or a node has none. */
export type DeliverySetting = 'Auto' | RuntimeDelivery;

/** The delivery in use; kept in memory, because a cluster may be upgraded while nobody looks. */
export class Delivery {
  private current: RuntimeDelivery;
  private readonly auto: boolean;

  constructor(setting: DeliverySetting) {
    this.auto = setting === 'Auto';
    this.current = setting === 'InitContainer' ? 'InitContainer' : 'ImageVolume';
  }

  /** How the next pod gets the runtime. */
  get kind(): RuntimeDelivery {
    return this.current;
  }

  /** True while image volumes are tried and may be given up. */
  get maySwitch(): boolean {
    return this.auto && this.current === 'ImageVolume';
  }

  /** Give image volumes up until the process starts anew; false when that was done already or is not allowed. */
  switchOver(): boolean {
    if (!this.maySwitch) return false;
    this.current = 'InitContainer';
    return true;
  }
}
