/**
 * What virt-handler says of hotplugged volumes, from what QEMU and the folder of its Pod show.
 *
 *   AttachedToNode   its socket is in QEMU's folder                 MountedToPod
 *   AttachedToNode   its socket could not be put there              stays, with the reason
 *   MountedToPod     the guest has the device, or its drive the medium
 *                                                                   Ready, with the name that the guest is likely to give it
 *   MountedToPod     there is no place, or QEMU refused             stays, with the reason
 *   Detaching        neither device, block node nor socket is left  UnMountedFromPod
 *
 * Pure.
 */
import { driveIndexOf, hotplugDisksOf } from '../../api/kubevirt/hotplug.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { pluggedNames } from '../../api/launcher/attachment.ts';
import { HOTPLUG_CONTROLLER, needsPort } from '../../qemu/convert/plugged-disk.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { whyNoPlace } from './free-places.ts';
import type { Plugged } from './plugged.ts';

export type VolumeEntry = NonNullable<VmiStatus['volumeStatus']>[number];

/** The id of the CD-ROM drive of this name. */
export function driveOf({ spec }: Pick<VirtualMachineInstance, 'spec'>, name: string): string | undefined {
  const index = driveIndexOf(spec, name);
  return index === undefined ? undefined : `disk${index}`;
}

/** The drive that this block node is in. */
export function driveWith({ media = {} }: Plugged, node: string): string | undefined {
  return Object.entries(media).find(([, inside]) => inside === node)?.[0];
}

/** The hotplugged ones among the volumes of the status. */
export function hotplugEntriesOf({ status }: Pick<VirtualMachineInstance, 'status'>): VolumeEntry[] {
  return (status?.volumeStatus ?? []).filter(
    ({ hotplugVolume, memoryDumpVolume }) => hotplugVolume !== undefined && memoryDumpVolume === undefined,
  );
}

/** Every volume of the status as it is to be; nothing where nothing is hotplugged. */
export function hotplugStatus(seen: ObservedDomain): Pick<VmiStatus, 'volumeStatus'> {
  const { vmi } = seen;
  if (vmi.status?.phase !== 'Running' || hotplugEntriesOf(vmi).length === 0) return {};
  const taken = new Set((vmi.status.volumeStatus ?? []).map(({ target }) => target));
  return {
    volumeStatus: (vmi.status.volumeStatus ?? []).map((entry) =>
      entry.hotplugVolume && !entry.memoryDumpVolume ? next(seen, entry, taken) : entry,
    ),
  };
}

function next(seen: ObservedDomain, entry: VolumeEntry, taken: Set<string>): VolumeEntry {
  const { plugged } = seen.domain;
  const { name, phase } = entry;
  const { device, node } = pluggedNames(name);
  const { is: link = 'absent', failure } = seen.links?.[name] ?? {};
  if (phase === 'AttachedToNode' && link === 'linked')
    return { ...entry, phase: 'MountedToPod', reason: 'VolumeMountedToPod', message: `Volume ${name} is reachable for QEMU` };
  if (phase === 'AttachedToNode' && failure !== undefined)
    return { ...entry, reason: 'HotplugFailed', message: `The socket of volume ${name} cannot be put into the folder of QEMU: ${failure}` };
  if (!plugged) return entry;
  const isIn = device in plugged.devices || driveWith(plugged, node) !== undefined;
  if (phase === 'MountedToPod') return isIn ? ready(seen, entry, taken) : waiting(seen, entry);
  const isOut = !isIn && !plugged.nodes.includes(node) && (link === 'absent' || link === 'missing');
  if (phase === 'Detaching' && isOut)
    return {
      ...entry,
      phase: 'UnMountedFromPod',
      target: '',
      reason: 'VolumeUnMountedFromPod',
      message: `Volume ${name} is out of the guest`,
    };
  return phase === 'Detaching' ? withFailure(seen, entry, [`unplug ${name}`, `eject ${name}`, `close ${name}`]) : entry;
}

function ready({ vmi }: ObservedDomain, entry: VolumeEntry, taken: Set<string>): VolumeEntry {
  const disk = diskOf(vmi, entry.name);
  const prefix = disk && needsPort(disk) ? 'vd' : 'sd';
  const target = names(prefix).find((name) => !taken.has(name)) ?? '';
  taken.add(target);
  return { ...entry, phase: 'Ready', target, reason: 'VolumeReady', message: `The guest has volume ${entry.name}` };
}

function waiting(seen: ObservedDomain, entry: VolumeEntry): VolumeEntry {
  const { device, node } = pluggedNames(entry.name);
  const disk = diskOf(seen.vmi, entry.name);
  const why = disk && seen.domain.plugged && whyNoPlaceFor(seen, disk, seen.domain.plugged);
  if (why) return { ...entry, reason: 'HotplugFailed', message: `Volume ${entry.name} cannot be plugged in: ${why}` };
  return withFailure(seen, entry, [`plug ${device}`, `plug ${node}`, `insert ${entry.name}`, `plug ${HOTPLUG_CONTROLLER}`]);
}

function whyNoPlaceFor({ vmi }: ObservedDomain, disk: Disk, plugged: Plugged): string | undefined {
  if (!disk.cdrom) return whyNoPlace(disk, plugged);
  const drive = driveOf(vmi, disk.name);
  return drive !== undefined && drive in (plugged.media ?? {})
    ? undefined
    : `the machine was started without the CD-ROM drive ${disk.name}`;
}

/** Of a command that failed, until it is given again. */
function withFailure({ domain }: ObservedDomain, entry: VolumeEntry, ids: readonly string[]): VolumeEntry {
  const failed = ids.map((id) => domain.commands[id]).find((state) => state?.is === 'failed');
  return failed?.is === 'failed' ? { ...entry, reason: 'HotplugFailed', message: failed.reason } : entry;
}

function diskOf({ spec }: VirtualMachineInstance, name: string): Disk | undefined {
  return hotplugDisksOf(spec).find(({ volume }) => volume.name === name)?.disk;
}

/** vda, vdb, ... as many as there can be disks. */
function names(prefix: string): string[] {
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  return [...letters, ...letters.flatMap((first) => letters.map((second) => `${first}${second}`))].map((letter) => `${prefix}${letter}`);
}
