/** The schema of a VirtualMachineInstance; templates have its spec, too. */
import { integer, list, mapOf, object, oneOf, optional, quantity, text, time } from '../../schema/dsl.ts';
import { changedBlockTrackingSchema } from '../backup-status-schema.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { HOTPLUG_PHASES } from '../hotplug.ts';
import { MEMORY_DUMP_PHASES, memoryDumpVolumeSchema } from '../memory-dump-schema.ts';
import { migrationStateSchema } from '../migration-state-schema.ts';
import { vmiSuspensionSchema } from '../suspension-schema.ts';
import { vmiSpecSchema } from '../vmi-spec-schema.ts';

export const VMI_PHASES = ['Pending', 'Scheduling', 'Scheduled', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

export const specSchema = vmiSpecSchema;

export const statusSchema = object('What is known of the instance. Written by our components alone.', {
  phase: optional(oneOf('Where the instance is in its life.', VMI_PHASES)),
  phaseTransitionTimestamps: optional(
    list(
      'When each phase was first reached.',
      object('One phase.', { phase: oneOf('The phase.', VMI_PHASES), phaseTransitionTimestamp: time('When it was reached.') }),
    ),
  ),
  reason: optional(text('One word for why the instance ended, when there is more to say than the phase.')),
  nodeName: optional(text('The node it runs on.')),
  evacuationNodeName: optional(text('The node that it has to leave, as somebody asked with an eviction.')),
  conditions: optional(conditionsSchema),
  interfaces: optional(
    list(
      'Network cards as they are.',
      object('One card.', {
        name: optional(text('The network it is plugged into.')),
        mac: optional(text('Its hardware address.')),
        ipAddress: optional(text('The address under which the guest can be reached.')),
        ipAddresses: optional(list('All of them.', text('An address.'))),
        interfaceName: optional(text('What the guest calls it.')),
        infoSource: optional(text('Who knows of it: domain, guest-agent, or both.')),
      }),
    ),
  ),
  guestOSInfo: optional(
    object('The system in the guest, as its agent tells.', {
      name: optional(text('Its name.')),
      kernelRelease: optional(text('The release of its kernel.')),
      version: optional(text('Its version, for people.')),
      prettyName: optional(text('Name and version, for people.')),
      versionId: optional(text('Its version, for programs.')),
      kernelVersion: optional(text('The build of its kernel.')),
      machine: optional(text('The architecture.')),
      id: optional(text('Its name, for programs.')),
    }),
  ),
  fsFreezeStatus: optional(text('frozen while the file systems of the guest take no writes.')),
  memory: optional(
    object('Memory of the guest.', {
      guestAtBoot: optional(quantity('What it started with.')),
      guestCurrent: optional(quantity('What it has now.')),
      guestRequested: optional(quantity('What it is to have.')),
    }),
  ),
  currentCPUTopology: optional(
    object('Processors that the guest has.', {
      cores: optional(integer('Cores in each socket.')),
      sockets: optional(integer('Sockets.')),
      threads: optional(integer('Threads in each core.')),
    }),
  ),
  volumeStatus: optional(
    list(
      'Volumes as they are.',
      object('One volume.', {
        name: text('Its name in the spec.'),
        target: text('What the guest is likely to call it, such as vda.'),
        phase: optional(oneOf('How far a hotplugged volume is.', [...HOTPLUG_PHASES, ...MEMORY_DUMP_PHASES])),
        reason: optional(text('Why it is not further, in one word.')),
        message: optional(text('The same for people.')),
        size: optional(integer('How large its disk is, in bytes.', { format: 'int64' })),
        hotplugVolume: optional(
          object('The Pod that attaches it, for a hotplugged volume.', {
            attachPodName: optional(text('Its name.')),
            attachPodUID: optional(text('Its uid.')),
          }),
        ),
        memoryDumpVolume: optional(memoryDumpVolumeSchema),
        persistentVolumeClaimInfo: optional(
          object('The PVC behind it, as it is.', {
            claimName: optional(text('Its name.')),
            accessModes: optional(list('How it may be used.', oneOf('One mode.', ACCESS_MODES))),
            capacity: optional(mapOf('How large it is.', quantity('An amount.'))),
            requests: optional(mapOf('How large it was asked to be.', quantity('An amount.'))),
            volumeMode: optional(oneOf('What it shows to a Pod.', ['Filesystem', 'Block'])),
          }),
        ),
      }),
    ),
  ),
  migrationMethod: optional(oneOf('Whether its disks are copied when it is moved.', ['BlockMigration', 'LiveMigration'])),
  migrationTransport: optional(text('How it is moved.')),
  migrationState: optional(migrationStateSchema),
  suspension: optional(vmiSuspensionSchema),
  changedBlockTracking: optional(changedBlockTrackingSchema),
  activePods: optional(mapOf('Launcher Pods by uid, and the node of each.', text('The node.'))),
  virtualMachineRevisionName: optional(text('The revision of the VirtualMachine that this instance was made from.')),
  runtimeUser: optional(integer('The user id that QEMU runs as.', { format: 'int64' })),
  qosClass: optional(oneOf('The quality-of-service class of the Pod.', ['Guaranteed', 'Burstable', 'BestEffort'])),
});
