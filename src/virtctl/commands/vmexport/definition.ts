/** `virtctl vmexport`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({
  help: { group: 'cluster', rank: 7 },
  docs: { brief: 'Take the disks of a machine, a snapshot or a PVC out of a cluster' },
});
