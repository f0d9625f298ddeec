/** `virtctl resize`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, optionalText, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 12, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection, disk: { ...optionalText, brief: 'Which of its disks, when it has several', placeholder: 'name' } },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'Name of the machine', placeholder: 'NAME', ...proposeVms },
        { ...text, brief: 'New size of its disk, which can only grow', placeholder: 'SIZE' },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make the disk of a machine larger, running or not',
    customUsage: [{ input: 'my-vm 20Gi', brief: 'a guest that runs sees it at once' }, 'my-vm 20Gi --disk data'],
  },
});
