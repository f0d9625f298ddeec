/** What `decide` and `status` look at: one DataVolume, its PVC, its Pod, and what it is filled from. */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import type { ImportProgress } from '../../api/importer/importer-pod.ts';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import type { ContainerDiskWay } from '../vmi/launcher-volumes.ts';

/** What the Pods that fill PVCs are made of. */
export type Importer = {
  readonly image: string;
  readonly way: ContainerDiskWay;
  /** PEM: who vouches for virt-api, which brings uploads. */
  readonly authority?: string | undefined;
};

/** Everything that is known of one DataVolume when the controller looks at it. */
export type ObservedDataVolume = {
  readonly dataVolume: DataVolume;
  /** Of the same name, whoever made it. */
  readonly claim?: PersistentVolumeClaim | undefined;
  /** The one that fills it. */
  readonly pod?: Pod | undefined;
  /** The PVC that it is a copy of. */
  readonly source?: PersistentVolumeClaim | undefined;
  /** Something is to fill that, and has not yet: a copy of it would be of nothing, or of a half. */
  readonly isSourceUnfilled?: boolean;
  /** A Pod that may write to that. */
  readonly sourceUser?: string | undefined;
  /** The snapshot that it begins as. */
  readonly snapshot?: VolumeSnapshot | undefined;
  /** As its Pod says; undefined when it says nothing. */
  readonly progress?: ImportProgress | undefined;
  /** Its PVC gets a volume with its first user, not before. */
  readonly isLate: boolean;
  readonly importer: Importer;
  readonly now: number;
};
