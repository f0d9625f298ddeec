/** Questions about a volume, answered by the record of its source. */
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { PodVolume } from '../../core/pod.ts';
import type { VmiSpec, Volume } from '../vmi-spec-schema.ts';
import { VOLUME_SOURCES } from './sources-table.ts';
import type { ClaimUse, DiskImageSource, HostFile, SourceName, VolumeSource } from './volume-source.ts';

const NAMES = Object.keys(VOLUME_SOURCES) as SourceName[]; // the keys of that very type

/** The sources that a volume has: one, unless nobody has checked it yet. */
export function sourceNamesOf(volume: Volume): SourceName[] {
  return NAMES.filter((name) => volume[name] !== undefined);
}

/** Every reason to refuse the sources of a volume; `at` is where the volume stands. */
export function sourceCauses(volume: Volume, at: string): StatusCause[] {
  return sourceNamesOf(volume).flatMap((name) => ask(volume, name, ({ validate }, data) => validate(data, `${at}.${name}`)));
}

/** A volume as it is written, with what its source leaves open filled in. */
export function defaultVolume(volume: JsonObject): JsonObject {
  const filled = NAMES.flatMap((name) => {
    const { withDefaults } = VOLUME_SOURCES[name];
    const written = volume[name];
    return withDefaults && isObject(written) ? [[name, withDefaults(written)] as const] : [];
  });
  return { ...volume, ...Object.fromEntries(filled) };
}

/** The container image that the disk of a volume comes in, if it does. */
export function imageOf(volume: Volume): DiskImageSource | undefined {
  return askFirst(volume, ({ image }, data) => image?.(data));
}

/** The claim behind a volume, if it has one. */
export function claimOf(volume: Volume): ClaimUse | undefined {
  return askFirst(volume, ({ claim }, data) => claim?.(data));
}

/** The file of the node that is the disk of a volume, if it is one. */
export function hostFileOf(volume: Volume): HostFile | undefined {
  return askFirst(volume, ({ hostFile }, data) => hostFile?.(data));
}

/** True for a volume whose source says that it comes while the guest runs. */
export function isHotpluggable(volume: Volume): boolean {
  return hotplugSourcesOf(volume).some((name) => markOf(volume[name]) === true);
}

/** The same volume with or without that mark; undefined for one that cannot have it. */
export function marked(volume: Volume, isMarked: boolean): Volume | undefined {
  const [name] = hotplugSourcesOf(volume);
  if (!name) return undefined;
  const { [HOTPLUG_MARK]: _, ...source } = (volume[name] ?? {}) as JsonObject; // an object, as every source
  return { ...volume, [name]: isMarked ? { ...source, [HOTPLUG_MARK]: true } : source };
}

const HOTPLUG_MARK = 'hotpluggable';

function hotplugSourcesOf(volume: Volume): SourceName[] {
  return sourceNamesOf(volume).filter((name) => VOLUME_SOURCES[name].canHotplug);
}

function markOf(source: unknown): unknown {
  return isObject(source) ? source[HOTPLUG_MARK] : undefined;
}

/** The layout of the cloud-init disk that a volume is, by the name that KubeVirt gives to its file. */
export function cloudInitLayoutOf(volume: Volume): 'noCloud' | 'configdrive' | undefined {
  if (volume.cloudInitNoCloud) return 'noCloud';
  return volume.cloudInitConfigDrive ? 'configdrive' : undefined;
}

/** The service accounts that a launcher Pod has to run as: its own, and those of its volumes. All are the same, once admission has looked. */
export function accountsOf({ serviceAccountName, volumes = [] }: Pick<VmiSpec, 'serviceAccountName' | 'volumes'>): string[] {
  const ofVolumes = volumes.map((volume) => askFirst(volume, ({ account }, data) => account?.(data)));
  return [...new Set([serviceAccountName, ...ofVolumes].flatMap((name) => name || []))];
}

/** What the disk of a volume is made of, as a volume of a Pod; undefined when the manifest has it all. */
export function contentOf(volume: Volume): Omit<PodVolume, 'name'> | undefined {
  return askFirst(volume, ({ content }, data) => content?.(data));
}

/** The same for the network data of cloud-init. */
export function networkContentOf(volume: Volume): Omit<PodVolume, 'name'> | undefined {
  return askFirst(volume, ({ networkContent }, data) => networkContent?.(data));
}

type Question<Answer> = (source: VolumeSource<never>, data: never) => Answer;

function askFirst<Answer>(volume: Volume, question: Question<Answer>): Answer | undefined {
  const [name] = sourceNamesOf(volume);
  return name && ask(volume, name, question);
}

function ask<Answer>(volume: Volume, name: SourceName, question: Question<Answer>): Answer {
  return question(VOLUME_SOURCES[name], volume[name] as never); // a record and the data of one name belong together
}
