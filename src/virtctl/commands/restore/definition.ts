/** `virtctl restore`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';
import { off, optionalText } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 8, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      salvage: off('Take what is whole of a damaged store (the one in place, or FILE) instead of a backup'),
      adopt: off('Leave guests running, outside of the cluster, that the backup does not know'),
    },
    positional: { kind: 'tuple', parameters: [{ ...optionalText, brief: 'File of the backup', placeholder: 'file' }] },
  },
  docs: { brief: 'Give a stopped embedded cluster the objects of a backup', customUsage: ['cluster.backup', '--salvage'] },
});
