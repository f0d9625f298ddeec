/** `virtctl rollback`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 15, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'Name of a stopped machine', placeholder: 'NAME', ...proposeVms },
        { ...text, brief: 'Name of the snapshot (default: the newest)', placeholder: 'SNAPSHOT', optional: true },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make a stopped machine what it was',
    fullDescription:
      'Make a stopped machine what it was. From a snapshot with memory it is resumed at once, in the middle of what it did then.',
    customUsage: ['my-vm', { input: 'my-vm before-upgrade', brief: 'the disks that it has now are kept as PVCs' }],
  },
});
