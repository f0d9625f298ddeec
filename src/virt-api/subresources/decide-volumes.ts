/**
 * What addvolume and removevolume make of the volumes and disks of a spec, or why not. First match wins, in KubeVirt's status codes.
 *
 *   add      no name, no disk, no source                 400
 *   add      a medium, and the drive is empty            put it in
 *   add      the name or the claim is used already       409
 *   remove   no name                                     400
 *   remove   no such volume, or not a hotplugged one     409
 *   remove   from an instance, what its machine has      409
 *   remove   a medium                                    the drive stays, empty
 *
 * What else can be wrong with a disk is for admission to say, as for every other change. Pure.
 */
import { DEFAULT_HOTPLUG_BUS } from '../../api/kubevirt/hotplug.ts';
import type { Refusal } from '../../api/kubevirt/vm-can.ts';
import type { Disk, VmiSpec, Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf, isHotpluggable, marked } from '../../api/kubevirt/volumes/source-of.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

export type VolumeOutcome =
  | { readonly refused: Refusal }
  | {
      readonly volumes: readonly Volume[];
      readonly disks: readonly Disk[];
      readonly because: string;
      readonly ephemeral?: readonly string[];
    };

/** With the volume of AddVolumeOptions. */
export function decideAddVolume(
  { volumes = [], domain }: VmiSpec,
  { name, disk, volumeSource }: JsonObject,
  ephemeral?: readonly string[],
): VolumeOutcome {
  if (typeof name !== 'string' || name === '') return badRequest('AddVolumeOptions requires name to be set');
  if (!isObject(disk)) return badRequest('AddVolumeOptions requires disk to not be nil');
  if (!isObject(volumeSource)) return badRequest('AddVolumeOptions requires volumeSource to not be nil');
  const volume = marked({ ...volumeSource, name } as Volume, true); // its schema is checked when it is written
  if (!volume) return badRequest('AddVolumeOptions requires volumeSource to be that of a PVC or a DataVolume');
  const disks = domain.devices.disks ?? [];
  const claimName = claimOf(volume)?.claimName;
  const drive = disks.find((each) => each.name === name && each.cdrom && disk['lun'] === undefined);
  if (volumes.some((each) => each.name === name) || disks.some((each) => each.name === name && each !== drive))
    return conflict(`Unable to add volume [${name}] because volume with that name already exists`);
  const other = volumes.find((each) => claimName !== undefined && claimOf(each)?.claimName === claimName);
  if (other) return conflict(`Unable to add volume source [${claimName}] because it already exists as volume ${other.name}`);
  return {
    volumes: [...volumes, volume],
    disks: drive ? disks : [...disks, { ...onBus(disk), name }],
    because: `add volume ${name}`,
    ...(ephemeral && { ephemeral: [...ephemeral, name] }),
  };
}

/** Without the volume of RemoveVolumeOptions. */
export function decideRemoveVolume({ volumes = [], domain }: VmiSpec, { name }: JsonObject, ephemeral?: readonly string[]): VolumeOutcome {
  if (typeof name !== 'string' || name === '') return badRequest('RemoveVolumeOptions requires name to be set');
  const found = volumes.find((each) => each.name === name);
  if (!found) return conflict(`Unable to remove volume [${name}] because it does not exist`);
  if (!isHotpluggable(found)) return conflict(`Unable to remove volume [${name}] because it is not hotpluggable`);
  if (ephemeral && !ephemeral.includes(name))
    return conflict(`Unable to remove volume [${name}] because it is in the template of the VirtualMachine; remove it there (--persist)`);
  return {
    ...(ephemeral && { ephemeral: ephemeral.filter((each) => each !== name) }),
    volumes: volumes.filter((each) => each !== found),
    disks: (domain.devices.disks ?? []).filter((each) => each.name !== name || each.cdrom),
    because: `remove volume ${name}`,
  };
}

/** A disk on SCSI, where nothing else is said. */
function onBus(disk: JsonObject): Disk {
  const { disk: target, ...rest } = disk;
  if (target === undefined && (rest['cdrom'] !== undefined || rest['lun'] !== undefined)) return disk as Disk; // admission judges it
  return { ...rest, disk: { bus: DEFAULT_HOTPLUG_BUS, ...(isObject(target) && withoutEmpty(target)) } } as Disk; // as above
}

/** Clients in Go write empty texts for what is not said. */
function withoutEmpty(target: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(target).filter(([, value]) => value !== ''));
}

function badRequest(message: string): VolumeOutcome {
  return { refused: { reason: 'BadRequest', message } };
}

function conflict(message: string): VolumeOutcome {
  return { refused: { reason: 'Conflict', message } };
}
