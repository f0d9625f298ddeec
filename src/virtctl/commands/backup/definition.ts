/** `virtctl backup`: what it is called with; run.ts is what it does. */

import { defineCommand } from '../../define-command.ts';
import { text } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 7, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: {}, positional: { kind: 'tuple', parameters: [{ ...text, brief: 'File of the backup', placeholder: 'file' }] } },
  docs: { brief: 'Write all objects of the embedded cluster into a file; disks are not in it', customUsage: ['cluster.backup'] },
});
