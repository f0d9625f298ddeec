/** The schema of a CDIConfig: of what CDI publishes, the part that clients of uploads read. */
import { object, optional, text } from '../../schema/dsl.ts';

export const specSchema = object('What an administrator says.', {
  uploadProxyURLOverride: optional(text('Where clients send disks, instead of what the status says.')),
});

export const statusSchema = object('What holds.', {
  uploadProxyURL: optional(text('Where clients send disks: virtctl image-upload reads it.')),
});
