/** How a move of an instance is going: shown by the instance, and by the migration when it is over. */
import { boolean, integer, mapOf, object, oneOf, optional, text, time } from '../schema/dsl.ts';
import { migrationConfigurationSchema } from './configuration/migration-configuration-schema.ts';

const bytes = (what: string) => integer(what, { minimum: 0, format: 'int64' });

export const migrationStateSchema = object('The last move of the instance to another node.', {
  migrationUid: optional(text('The uid of the migration that it belongs to.')),
  sourceNode: optional(text('The node that the instance leaves.')),
  sourcePod: optional(text('The Pod that it runs in before.')),
  targetNode: optional(text('The node that it goes to.')),
  targetPod: optional(text('The Pod that it runs in afterwards.')),
  targetNodeAddress: optional(text('Where the target takes the guest; there when it is ready to.')),
  targetDirectMigrationNodePorts: optional(mapOf('Ports at that address.', integer('What comes there.'))),
  targetNodeDomainDetected: optional(boolean('QEMU of the target waits for the guest.')),
  targetNodeDomainReadyTimestamp: optional(time('When the guest was there.')),
  sourceNodeDomainReadyTimestamp: optional(
    time('After a move that was begun and failed: when the guest was back where it was. No other is begun before.'),
  ),
  startTimestamp: optional(time('When the guest began to be sent.')),
  endTimestamp: optional(time('When the move was over.')),
  completed: optional(boolean('The instance is of its new node. Never together with failed.')),
  failed: optional(boolean('The instance has stayed where it was. Never together with completed.')),
  failureReason: optional(text('Why it has.')),
  abortRequested: optional(boolean('Somebody wants it to stay.')),
  abortStatus: optional(oneOf('What came of that.', ['Succeeded', 'Failed', 'Aborting'])),
  mode: optional(
    oneOf('How the guest is sent: Paused when it stands still for the rest of its memory.', ['PreCopy', 'PostCopy', 'Paused']),
  ),
  migrationNetworkType: optional(oneOf('The network that the guest is sent through.', ['Pod', 'Migration'])),
  migrationPolicyName: optional(text('The policy that holds for this move; not there where none does.')),
  migrationConfiguration: optional(migrationConfigurationSchema),
  progress: optional(
    object('How far the copy is, written every two seconds while it takes that long.', {
      stage: oneOf('What is being copied.', ['Disks', 'Memory']),
      bytesDone: bytes('Bytes that were sent.'),
      bytesLeft: bytes('Bytes that are left to send, if the guest writes no more.'),
      bytesPerSecond: bytes('How fast they go.'),
      dirtyBytesPerSecond: optional(bytes('How much memory the guest writes a second, which has to be sent again.')),
      iterations: optional(integer('How often its memory was gone through.', { format: 'int64' })),
      expectedDowntimeMs: optional(integer('How long the guest would stand still if it were stopped now.', { format: 'int64' })),
      lastUpdate: time('When this was so.'),
    }),
  ),
});
