import type {RuntimeDelivery} from '../domain/session/pod.ts';

/** How the runtime is delivered: Auto begins with image volumes and is switched when the cluster or a node has none. */
export type DeliverySetting = 'Auto' | RuntimeDelivery;

/** The delivery in use; kept in memory, because a cluster may be upgraded while nobody looks. */
export class Delivery {
  /** The setting says Auto. It stays so when image volumes were given up: other pods may be on their way with one. */
  readonly maySwitch: boolean;
  private current: RuntimeDelivery;

  constructor(setting: DeliverySetting) {
    this.maySwitch = setting === 'Auto';
    this.current = setting === 'InitContainer' ? 'InitContainer' : 'ImageVolume';
  }

  /** How the next pod gets the runtime. */
  get kind(): RuntimeDelivery {
    return this.current;
  }

  /** Give image volumes up until the process starts anew; false when that was done already or is not allowed. */
  switchOver(): boolean {
    if (!this.maySwitch || this.current === 'InitContainer') return false;
    this.current = 'InitContainer';
    return true;
  }
}
