/**
 * Which disks of a guest that runs are to grow, and what is told of their sizes.
 *
 *   the PVC has grown since the Pod was made, its disk is smaller    grow the disk, which tells the guest; again after 30 s when QEMU cannot
 *   the disk was to grow when the guest was started, and could not   the same: it is one of ours
 *   its PVC is as it was at the start                                leave the disk: somebody may have put a smaller one there
 *   the disk is larger than its PVC                                  leave it: nothing shrinks
 *   the guest is being moved, suspended or backed up                 leave it: whoever takes the guest, and the copy, have the size that the disk had
 *
 * Each is decided from what QMP, the Pod and the PVC show: whoever is killed half-way goes on. Pure.
 */
import type { Pod } from '../../api/core/pod.ts';
import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { diskBytesFrom } from '../../api/kubevirt/volumes/disk-size.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { isObject } from '../../base/json.ts';
import { formatBytes } from '../../base/quantity.ts';
import { isReadOnlyDisk } from '../../qemu/convert/disks.ts';
import { imageNode } from '../../qemu/convert/input.ts';
import { beginHindranceOf } from '../migration/begin-hindrance.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';

const AGAIN_MS = 30_000;

/** A disk on a PVC that the guest was started with. */
type ClaimDisk = { readonly volume: string; readonly node: string; readonly bytes: number; readonly wantedBytes: number };
type Entry = NonNullable<VmiStatus['volumeStatus']>[number];

/** The disks that are to grow now, and when to look again. */
export function decideResizes(seen: ObservedDomain): { readonly actions: readonly DomainAction[]; readonly lookAgainAfterMs?: number } {
  const { vmi, domain, now } = seen;
  const isUp = domain.state === 'running' || domain.state === 'paused' || domain.state === 'io-error';
  if (vmi.status?.phase !== 'Running' || !isUp || !domain.isConnected || beginHindranceOf('resize', seen)) return { actions: [] };
  const behind = claimDisksOf(seen).filter(({ bytes, wantedBytes }) => bytes < wantedBytes);
  const waits: number[] = [];
  const actions = behind.flatMap(({ volume, node, wantedBytes }): DomainAction[] => {
    const last = resizeOf(seen, volume);
    const waitMs = last && isFor(last, wantedBytes) ? last.givenAt + AGAIN_MS - now : 0;
    if (last?.is === 'running') return [];
    if (waitMs > 0) waits.push(waitMs);
    if (waitMs > 0) return [];
    const because = `the PVC of volume ${volume} has grown`;
    return [{ do: 'command', id: `resize ${volume}`, command: { name: 'resize', node, bytes: wantedBytes }, because }];
  });
  return { actions, ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }) };
}

/** The volumes of the status with the sizes of their disks, and why one did not grow. */
export function resizeStatus(seen: ObservedDomain, volumeStatus: VmiStatus['volumeStatus']): VmiStatus['volumeStatus'] {
  const disks = new Map(claimDisksOf(seen).map((disk) => [disk.volume, disk]));
  if (disks.size === 0) return volumeStatus;
  return volumeStatus?.map((entry) => {
    const disk = disks.get(entry.name);
    return disk && !entry.hotplugVolume ? withSize(entry, disk, resizeOf(seen, entry.name)) : entry;
  });
}

function withSize(entry: Entry, { bytes, wantedBytes }: ClaimDisk, last: CommandState | undefined): Entry {
  const { reason, message, ...rest } = entry;
  const sized: Entry = { ...rest, size: bytes };
  if (bytes >= wantedBytes) return reason === 'ResizeFailed' ? sized : { ...entry, size: bytes };
  if (last?.is !== 'failed') return { ...entry, size: bytes };
  return { ...sized, reason: 'ResizeFailed', message: `The disk cannot grow to ${formatBytes(wantedBytes)}: ${last.reason}` };
}

function claimDisksOf({ vmi, pod, domain }: ObservedDomain): ClaimDisk[] {
  const { sizes = {}, behind = [] } = domain.plugged ?? {};
  const { volumes = [], domain: machine } = startedSpec(normaliseVmiSpec(vmi.spec));
  const startedWith = startSizesOf(pod);
  return (machine.devices.disks ?? []).flatMap((disk, index): ClaimDisk[] => {
    const volume = volumes.find(({ name }) => name === disk.name);
    const claim = volume && claimOf(volume);
    const node = imageNode(index);
    const bytes = sizes[node];
    if (!claim || claim.isReadOnly || isReadOnlyDisk(disk) || bytes === undefined) return [];
    const { capacity, volumeMode } = vmi.status?.volumeStatus?.find(({ name }) => name === disk.name)?.persistentVolumeClaimInfo ?? {};
    const wantedBytes = diskBytesFrom(text(capacity?.['storage']), volumeMode) ?? 0;
    const hasGrown = behind.includes(disk.name) || wantedBytes > (startedWith[disk.name] ?? Number.POSITIVE_INFINITY);
    return [{ volume: disk.name, node, bytes, wantedBytes: hasGrown ? wantedBytes : bytes }];
  });
}

/** A quantity may be written as a number. */
function text(storage: string | number | undefined): string | undefined {
  return storage === undefined ? undefined : String(storage);
}

/** How large disks were to be when the Pod was made: virt-controller says so in it. */
function startSizesOf(pod: Pod | undefined): Readonly<Record<string, number>> {
  const compute = pod?.spec.containers.find(({ name }) => name === COMPUTE_CONTAINER);
  const said = compute?.env?.find(({ name }) => name === LAUNCHER_VARIABLES.newDiskBytes)?.value ?? '{}';
  try {
    const sizes: unknown = JSON.parse(said);
    if (!isObject(sizes)) return {};
    return Object.fromEntries(Object.entries(sizes).flatMap(([name, bytes]) => (typeof bytes === 'number' ? [[name, bytes]] : [])));
  } catch {
    return {}; // somebody else wrote it
  }
}

function resizeOf({ domain }: ObservedDomain, volume: string): CommandState | undefined {
  return domain.commands[`resize ${volume}`];
}

function isFor({ command }: CommandState, bytes: number): boolean {
  return command.name === 'resize' && command.bytes === bytes;
}
