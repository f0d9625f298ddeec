/** The schema of a CDIConfig: of what CDI publishes, the part that clients of uploads and of memory dumps read. */
import { object, optional, text } from '../../schema/dsl.ts';

export const specSchema = object('What an administrator says.', {
  uploadProxyURLOverride: optional(text('Where clients send disks, instead of what the status says.')),
});

export const statusSchema = object('What holds.', {
  filesystemOverhead: optional(
    object('How much of a PVC its file system needs itself: virtctl memory-dump reads it.', {
      global: optional(text('Of every class, such as 0.055.')),
    }),
  ),
  uploadProxyURL: optional(text('Where clients send disks: virtctl image-upload reads it.')),
});
