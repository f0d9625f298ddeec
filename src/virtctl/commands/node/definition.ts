/** `virtctl node`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({
  help: { group: 'embedded', rank: 6 },
  docs: { brief: 'Look at nodes, stop, start, kill and drain them' },
});
