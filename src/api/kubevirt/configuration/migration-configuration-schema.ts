/** How machines are moved: what `configuration.migrations` says for all, what a MigrationPolicy says for some, and what held for one move. */
import { boolean, integer, object, optional, quantity, text } from '../../schema/dsl.ts';

/** What a policy can say, too. */
export const POLICY_FIELDS = {
  allowAutoConverge: optional(
    boolean('A guest that writes its memory faster than it can be copied is slowed down; false when it is not set.'),
  ),
  allowPostCopy: optional(
    boolean('Only false: the rest of the memory would come after the guest, which takes rights that launcher Pods have not.'),
  ),
  allowWorkloadDisruption: optional(
    boolean(
      'A guest whose memory is not copied in time stands still until the rest of it is; false when it is not set: it stays where it is.',
    ),
  ),
  bandwidthPerMigration: optional(quantity('Bytes a second that one move takes, as in 64Mi; 0, the default, for as many as there are.')),
  completionTimeoutPerGiB: optional(
    integer('Seconds that a move may take for each GiB of memory and copied disks, and never less than for one; 150 when it is not set.', {
      minimum: 1,
      maximum: 86_400,
      format: 'int64',
    }),
  ),
  maxDowntimeMs: optional(
    integer('How long the guest may stand still at the end, in milliseconds, as far as QEMU can tell before; 300 when it is not set.', {
      minimum: 1,
      maximum: 2_000_000,
      format: 'int64',
    }),
  ),
} as const;

export const migrationConfigurationSchema = object('How machines are moved to other nodes.', {
  ...POLICY_FIELDS,
  disableTLS: optional(boolean('Only false: nothing of a guest goes through a network as plain text.')),
  matchSELinuxLevelOnMigration: optional(boolean('Kept: launcher Pods have the level that their container runtime gives them.')),
  nodeDrainTaintKey: optional(
    text(
      'A taint with this key and the effect NoSchedule has machines moved off its node, as an eviction has; kubevirt.io/drain when it is not set.',
    ),
  ),
  parallelMigrationsPerCluster: optional(integer('Moves at once; 5 when it is not set.', { minimum: 1, maximum: 10_000, format: 'int64' })),
  parallelOutboundMigrationsPerNode: optional(
    integer('Moves at once away from one node; 2 when it is not set.', { minimum: 1, maximum: 10_000, format: 'int64' }),
  ),
  progressTimeout: optional(
    integer('Seconds after which a move ends that does not come nearer to its end; 150 when it is not set.', {
      minimum: 1,
      maximum: 86_400,
      format: 'int64',
    }),
  ),
  unsafeMigrationOverride: optional(boolean('Kept: no move is refused as unsafe here that KubeVirt would then begin.')),
  utilityVolumesTimeout: optional(integer('Kept: there are no utility volumes.', { minimum: 0, format: 'int64' })),
});
