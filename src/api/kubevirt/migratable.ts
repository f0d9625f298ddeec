/**
 * Whether an instance can be moved to another node while it runs, and if not, why not. First match wins, in KubeVirt's order and words.
 *
 *   a bridge on the network of its Pod     InterfaceNotLiveMigratable: the guest has the address of this very Pod
 *   a folder that is shared by virtiofs    VirtIOFSNotLiveMigratable: what the guest has open there is known to this node alone
 *   a dump of its memory                   DisksNotLiveMigratable: QEMU does one at a time
 *   a backup of its disks                  DisksNotLiveMigratable: what is not copied yet is known to this QEMU alone
 *   a hotplugged volume                    DisksNotLiveMigratable: its Pod stays on the node
 *   a file of its node                     DisksNotLiveMigratable
 *   a PVC that one node alone can use      DisksNotLiveMigratable
 *
 * Disks that end with the instance (containerDisk, emptyDisk, ephemeral) are copied, and cloud-init is made anew: they are no obstacle. Pure.
 */
import { backingUpTo } from './backup.ts';
import type { NotMigratableReason } from './condition-reasons.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { dumpingTo } from './memory-dump.ts';
import { claimOf, hostFileOf, isHotpluggable } from './volumes/source-of.ts';

export type NotMigratable = { readonly reason: NotMigratableReason; readonly message: string };
type Rule = (vmi: Pick<VirtualMachineInstance, 'spec' | 'status'>) => NotMigratable | undefined;

const RULES: readonly Rule[] = [bridged, sharedFolder, dumped, backedUp, hotplugged, fileOfNode, unsharedClaim];

/** Undefined when it can be moved. */
export function whyNotMigratable(vmi: Pick<VirtualMachineInstance, 'spec' | 'status'>): NotMigratable | undefined {
  for (const rule of RULES) {
    const why = rule(vmi);
    if (why) return why;
  }
  return undefined;
}

function bridged({ spec }: Pick<VirtualMachineInstance, 'spec'>): NotMigratable | undefined {
  const found = spec.domain.devices.interfaces?.find((nic) => 'bridge' in nic && nic.bridge !== undefined);
  if (!found) return undefined;
  return {
    reason: 'InterfaceNotLiveMigratable',
    message: `cannot migrate VMI which does not use masquerade to connect to the pod network: interface ${found.name} is a bridge; use masquerade`,
  };
}

function sharedFolder({ spec }: Pick<VirtualMachineInstance, 'spec'>): NotMigratable | undefined {
  const [found] = spec.domain.devices.filesystems ?? [];
  if (!found) return undefined;
  return {
    reason: 'VirtIOFSNotLiveMigratable',
    message: `cannot migrate VMI: the folder ${found.name} is shared by virtiofs, which holds the guest to its node`,
  };
}

function dumped(vmi: Pick<VirtualMachineInstance, 'spec' | 'status'>): NotMigratable | undefined {
  const claimName = dumpingTo(vmi);
  if (claimName === undefined) return undefined;
  return { reason: 'DisksNotLiveMigratable', message: `cannot migrate VMI: its memory is being dumped to PVC ${claimName}` };
}

function backedUp(vmi: Pick<VirtualMachineInstance, 'status'>): NotMigratable | undefined {
  const claimName = backingUpTo(vmi);
  if (claimName === undefined) return undefined;
  return { reason: 'DisksNotLiveMigratable', message: `cannot migrate VMI: its disks are being backed up to PVC ${claimName}` };
}

function hotplugged({ spec, status }: Pick<VirtualMachineInstance, 'spec' | 'status'>): NotMigratable | undefined {
  const wanted = spec.volumes?.find(isHotpluggable)?.name;
  const name = wanted ?? status?.volumeStatus?.find(({ hotplugVolume }) => hotplugVolume)?.name;
  if (name === undefined) return undefined;
  const message = `cannot migrate VMI: volume ${name} is hotplugged, and is attached to this node alone; virtctl removevolume takes it away`;
  return { reason: 'DisksNotLiveMigratable', message };
}

function fileOfNode({ spec }: Pick<VirtualMachineInstance, 'spec'>): NotMigratable | undefined {
  const found = spec.volumes?.find(hostFileOf);
  if (!found) return undefined;
  return {
    reason: 'DisksNotLiveMigratable',
    message: `cannot migrate VMI with non-shared HostDisk: volume ${found.name} is a file of its node`,
  };
}

function unsharedClaim({ spec, status }: Pick<VirtualMachineInstance, 'spec' | 'status'>): NotMigratable | undefined {
  for (const volume of spec.volumes ?? []) {
    const claim = claimOf(volume);
    if (!claim) continue;
    const info = status?.volumeStatus?.find(({ name }) => name === volume.name)?.persistentVolumeClaimInfo;
    const isShared = info?.accessModes?.some(
      (mode) => mode === 'ReadWriteMany' || (mode === 'ReadOnlyMany' && volume.ephemeral !== undefined),
    );
    if (isShared) continue;
    return {
      reason: 'DisksNotLiveMigratable',
      message: `cannot migrate VMI: PVC ${claim.claimName} is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany access mode)`,
    };
  }
  return undefined;
}
