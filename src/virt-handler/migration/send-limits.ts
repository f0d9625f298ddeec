/** What a move may take, as virt-controller has written it for this one. Pure. */
import { bandwidthOf, migrationSettingsOf } from '../../api/kubevirt/configuration/migration-settings.ts';
import type { MigrationState } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { guestMemoryBytesOf } from '../../api/kubevirt/vmi-size.ts';
import type { SendLimits } from '../vmi/domain-command.ts';

/** The defaults where the state says nothing. */
export function sendLimitsOf({ spec }: Pick<VirtualMachineInstance, 'spec'>, { migrationConfiguration }: MigrationState): SendLimits {
  const settings = migrationSettingsOf(migrationConfiguration);
  return {
    memoryBytes: guestMemoryBytesOf(spec) ?? 0,
    msPerGiB: settings.completionTimeoutPerGiB * 1000,
    progressMs: settings.progressTimeout * 1000,
    downtimeMs: settings.maxDowntimeMs,
    bytesPerSecond: bandwidthOf(settings),
    isSlowedDown: settings.allowAutoConverge,
    mayStandStill: settings.allowWorkloadDisruption,
  };
}

/** For so many bytes of memory and disks, and never less than for one GiB. */
export function timeoutMsOf({ msPerGiB }: Pick<SendLimits, 'msPerGiB'>, bytes: number): number {
  return Math.ceil(Math.max(1, bytes / 2 ** 30)) * msPerGiB;
}
