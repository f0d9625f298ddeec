/** `virtctl memory-dump`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({
  help: { group: 'machines', rank: 15 },
  docs: { brief: 'Dump the memory of a running machine to a PVC, for crash and other tools' },
});
