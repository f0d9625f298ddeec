/** What must be known of a source of volumes outside of the launcher, which makes the disk of it. */
import type { StatusCause } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { PodVolume } from '../../core/pod.ts';
import type { Volume } from '../vmi-spec-schema.ts';

export type SourceName = Exclude<keyof Volume, 'name'>;
export type SourceData<Name extends SourceName> = NonNullable<Volume[Name]>;

/** The image of a container, with a disk in it. */
export type DiskImageSource = {
  readonly image: string;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** With the credentials for its registry. */
  readonly imagePullSecret?: string;
};
/** A persistent volume claim, with a disk on it. */
export type ClaimUse = { readonly claimName: string; readonly isReadOnly: boolean };
/** A file of the node, by the folder that it is in: nothing lies between the two that somebody could put a link in the place of. */
export type HostFile = { readonly folder: string; readonly file: string };

/** One that has neither image, claim nor content is made inside the Pod, from what the manifest says. */
export type VolumeSource<Data> = {
  /** Every reason to refuse it; `at` is where it stands in the object. Its schema has accepted it. */
  readonly validate: (data: Data, at: string) => readonly StatusCause[];
  /** With what was left open filled in; of what is written before anybody has looked at it. */
  readonly withDefaults?: (written: JsonObject) => JsonObject;
  /** The container image that its disk comes in: a mount of the launcher Pod. */
  readonly image?: (data: Data) => DiskImageSource;
  /** The claim that its disk is on: a mount of the launcher Pod, and part of the status. */
  readonly claim?: (data: Data) => ClaimUse | undefined;
  /** The file of the node that is its disk: its folder is a mount of the launcher Pod. */
  readonly hostFile?: (data: Data) => HostFile | undefined;
  /** True where it can come while a guest runs, and then is marked so. */
  readonly canHotplug?: true;
  /** Whose files its disk is made of: a volume of the launcher Pod, mounted where `contentMount` says. */
  readonly content?: (data: Data) => Omit<PodVolume, 'name'> | undefined;
  /** The service account that the launcher Pod has to run as for it. */
  readonly account?: (data: Data) => string | undefined;
  /** Whose files have the network data of cloud-init: mounted where `networkContentMount` says. */
  readonly networkContent?: (data: Data) => Omit<PodVolume, 'name'> | undefined;
};
