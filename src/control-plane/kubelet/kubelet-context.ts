/** What every part of one kubelet shares. */
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Cgroups } from '../../base/node/cgroups.ts';
import type { Client } from '../../client/client.ts';
import type { ImagePuller } from '../../images/image-puller.ts';
import type { EventRecorder } from '../../reconcile/events.ts';
import type { AddressPool } from './address-pool.ts';
import type { BuiltInImages } from './built-in-images.ts';
import type { ImageSource } from './image-source.ts';
import type { PodUsers } from './pod-users.ts';
import type { MayBecome } from './privileges.ts';

export type KubeletContext = {
  readonly client: Client;
  readonly nodeName: string;
  readonly rootDir: string;
  /** Which history the API tells; a Pod that was started under another one is not known to be deleted when it is not there. */
  readonly clusterId: string | undefined;
  readonly hostIP: string;
  readonly apiServerUrl: string | undefined;
  readonly images: ImageSource;
  /** Fetches what the store does not have; without one, that is missing. */
  readonly puller: ImagePuller | undefined;
  readonly builtInImages: BuiltInImages;
  readonly addresses: AddressPool;
  readonly mayBecome: MayBecome;
  /** Whom Pods run as on this host; what they ask for when there are none. */
  readonly users: PodUsers | undefined;
  /** A name that outlives the Pod, when it runs a machine. */
  readonly machineOf: ((pod: Pod) => Promise<string | undefined>) | undefined;
  /** Where cgroups of containers are made; undefined where none can be. */
  readonly cgroups: () => Cgroups | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Asks for another look at the Pod with this uid. */
  readonly wake: (uid: string) => void;
};
