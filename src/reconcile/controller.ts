/** The one reconcile loop: caches wake keys, keys are observed, decisions are applied, failures back off. */
import type { KubeObject } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Cache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import type { Decision } from './decision.ts';

export type Trigger = {
  readonly cache: Cache<KubeObject>;
  /** Which keys of this controller a change of that object concerns (asked for the old and the new state). */
  readonly keysOf: (object: KubeObject) => readonly string[];
};

export type ControllerOptions<Observed> = {
  /** Shown as the source of events: `virtualmachine-controller`. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly triggers: readonly Trigger[];
  /** Everything `decide` may look at, or undefined when the subject is gone. */
  readonly observe: (key: string) => Observed | undefined | Promise<Observed | undefined>;
  readonly decide: (observed: Observed) => Decision;
  /** The object that events of this decision are recorded on. */
  readonly subject: (observed: Observed) => KubeObject;
  readonly workers?: number;
};

/** Runs until the signal aborts; resolves when the last worker has finished what it was doing. */
export declare function runController<Observed>(options: ControllerOptions<Observed>): Promise<void>;
