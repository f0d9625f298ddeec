/** What every part of one kubelet shares. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../reconcile/events.ts';
import type { AddressPool } from './address-pool.ts';
import type { BuiltInImages } from './built-in-images.ts';
import type { MayBecome } from './privileges.ts';
import type { ImageSource } from './volumes.ts';

export type KubeletContext = {
  readonly client: Client;
  readonly nodeName: string;
  readonly rootDir: string;
  /** Which history the API tells; a Pod that was started under another one is not known to be deleted when it is not there. */
  readonly clusterId: string | undefined;
  readonly hostIP: string;
  readonly apiServerUrl: string | undefined;
  readonly images: ImageSource;
  readonly builtInImages: BuiltInImages;
  readonly addresses: AddressPool;
  readonly mayBecome: MayBecome;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Asks for another look at the Pod with this uid. */
  readonly wake: (uid: string) => void;
};
