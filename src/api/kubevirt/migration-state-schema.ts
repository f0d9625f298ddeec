/** How a move of an instance is going: shown by the instance, and by the migration when it is over. */
import { boolean, integer, mapOf, object, oneOf, optional, text, time } from '../schema/dsl.ts';

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
  startTimestamp: optional(time('When the guest began to be sent.')),
  endTimestamp: optional(time('When the move was over.')),
  completed: optional(boolean('The instance is of its new node. Never together with failed.')),
  failed: optional(boolean('The instance has stayed where it was. Never together with completed.')),
  failureReason: optional(text('Why it has.')),
  abortRequested: optional(boolean('Somebody wants it to stay.')),
  abortStatus: optional(oneOf('What came of that.', ['Succeeded', 'Failed', 'Aborting'])),
  mode: optional(oneOf('How the guest is sent.', ['PreCopy', 'PostCopy', 'Paused'])),
});
