/** `virtctl image`: a group of commands, each in a folder of its own. */
import { defineGroup } from '../../define-command.ts';

export const definition = defineGroup({
  help: { group: 'embedded', rank: 6 },
  docs: { brief: 'Find, list, import, pull, tag, push and remove the images of the embedded cluster' },
});
